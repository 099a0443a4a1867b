import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longestFirst } from './longest-first.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the order of the test files', () => {
  it('is the longest first, and the short ones suite by suite', () => {
    const file = (suite: string, name: string) => ({ moduleId: join(root, name), project: { name: suite } });
    const files = [file('a', 'a1'), file('b', 'b1'), file('a', 'a2'), file('b', 'b2'), file('a', 'a3')];
    const order = longestFirst(files, { a3: 5, b2: 9 }).map(({ moduleId }) => moduleId.slice(-2));
    expect(order).toEqual(['b2', 'a3', 'a1', 'a2', 'b1']);
  });

  it('knows the times of files that are there', () => {
    const seconds = JSON.parse(readFileSync(join(import.meta.dirname, 'file-seconds.json'), 'utf8')) as object;
    expect(Object.keys(seconds).filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });
});
