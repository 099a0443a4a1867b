import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHANGING_SCRIPTS, LOOKING_SCRIPTS, scriptText } from './scripts.ts';

const files = readdirSync(new URL('../lua', import.meta.url)).map((name) => name.replace(/\.lua$/, ''));
const names = [...CHANGING_SCRIPTS, ...LOOKING_SCRIPTS];

test('There is one file an operation, and none besides but what stands before all of them.', () => {
  expect(names.filter((name) => name !== 'settle-claim').sort()).toEqual(
    files
      .filter((name) => !['ground', 'reign', 'tally', 'batch', 'fastpath', 'prelude'].includes(name))
      .sort(),
  );
});

test.each(names)('%s is constants, prelude and its own file, and the same every time', (name) => {
  const text = scriptText(name);
  expect(text).toContain('-- prelude:');
  expect(text).toContain(`-- ${name === 'settle-claim' ? 'settle' : name}:`);
  expect(scriptText(name)).toBe(text);
});

const CHANGING = /call\('(HSET|HDEL|HINCRBY|ZADD|ZREM|RPUSH|LPUSH|LPOP|LTRIM|LREM|SADD|SREM|SET|DEL|UNLINK|EXPIRE)'/;

test('Every write goes through the function that a test can stop.', () => {
  for (const name of names) expect(scriptText(name)).not.toMatch(CHANGING);
});

test.each(LOOKING_SCRIPTS)('%s writes nothing', (name) => {
  const own = scriptText(name).split('-- Two operations in one call')[1] ?? '';
  expect(own).not.toMatch(/\bwrite\(|work\.flush|begin\(\)/);
});
