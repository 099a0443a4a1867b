/** Holds the table of layers and the rules of shape. The rules themselves are tried on bad code first. */
import { describe, expect, it } from 'vitest';
import { findBreaches, findLayerBreaches } from './layer-rules.ts';
import { readPageSources, readSources } from './source-tree.ts';

describe('the layers of src/', () => {
  it('are kept by every source file', () => {
    expect(readSources().flatMap(findBreaches)).toEqual([]);
  });
});

describe('the web UI', () => {
  it('imports only the layers of its row', () => {
    expect(readPageSources().flatMap(findLayerBreaches)).toEqual([]);
  });

  it('cannot import the server', () => {
    const text = `import { route } from '../../src/server/http/route.ts';`;
    expect(findLayerBreaches({ path: 'web/src/app.tsx', text })).not.toEqual([]);
  });
});

describe('the test of layers', () => {
  it.each([
    ['core/job.ts', `import { readFile } from 'node:fs';`],
    ['core/job.ts', `import type { Store } from '../stores/memory/store.ts';`],
    ['core/job.ts', `export { open } from '../worker/worker.ts';\nexport const a = 1;`],
    ['core/job.ts', `export const open = () => import('../worker/worker.ts');`],
    ['core/job.ts', `export type A = import('../worker/worker.ts').A;`],
    ['core/job.ts', 'export const now = () => Date.now();'],
    ['core/job.ts', 'export const now = () => new Date();'],
    ['core/job.ts', 'export const dice = () => Math.random();'],
    ['core/job.ts', 'export const id = () => crypto.randomUUID();'],
    ['core/job.ts', `import { state } from './state.js';`],
    ['worker/worker.ts', `import { open } from '../stores/sqlite/store.ts';`],
    ['stores/redis/store.ts', `import { open } from '../memory/store.ts';`],
    ['stores/memory/store.ts', `import { schema } from '../../wire/schema.ts';`],
    ['compat/rq/routes.ts', `import { open } from '../../stores/memory/store.ts';`],
    ['worker/worker.ts', `import { connect } from '../library/connect.ts';`],
    ['worker/worker.ts', `import { DatabaseSync } from '@photostructure/sqlite';`],
    ['worker/worker.ts', `import { version } from '../../package.json';`],
    ['worker/worker.ts', 'export const home = () => process.env.HOME;'],
    ['worker/worker.ts', `export const start = () => process.on('SIGTERM', () => undefined);`],
    ['worker/worker.ts', `export const start = () => console.log('hello');`],
    ['worker/worker.ts', `import process from 'node:process';`],
    ['worker/worker.ts', 'start();'],
    ['worker/worker.ts', 'export const read = (value: any) => value;'],
    ['worker/worker.ts', 'export default 1;'],
    ['worker/worker.ts', 'export enum State { on }'],
    ['worker/worker.ts', 'export class Worker extends Emitter {}'],
    ['worker/worker.ts', `export * from './attempt.ts';`],
    ['worker/index.ts', 'export const a = 1;'],
    ['worker/utils.ts', 'export const a = 1;'],
    ['worker/leaseKeeper.ts', 'export const a = 1;'],
    ['elsewhere/thing.ts', 'export const a = 1;'],
  ])('catches, in %s: %s', (path, text) => {
    expect(findBreaches({ path, text })).not.toEqual([]);
  });

  it.each([
    [
      'core/job.ts',
      `import { state } from './state.ts';\n// Date.now() and any in a comment\nexport const a = 'console.log';`,
    ],
    ['core/job.ts', 'export const at = (ms: number) => new Date(ms).toISOString();'],
    ['stores/http/store.ts', `import { schema } from '../../wire/schema.ts';`],
    ['stores/sqlite/store.ts', `import { DatabaseSync } from '@photostructure/sqlite';`],
    ['worker/keeper-thread.ts', `import { open } from '../core/job.ts';\nprocess.on('exit', () => console.log(open));`],
    ['library/index.ts', `export { connect } from './connect.ts';`],
    ['library/connect.ts', `import { openStore } from '../stores/sqlite/store.ts';`],
    ['testing/index.ts', `export { openStore } from '../stores/memory/store.ts';`],
    ['worker/worker.ts', 'export class LostError extends Error {}'],
  ])('lets pass, in %s: %s', (path, text) => {
    expect(findBreaches({ path, text })).toEqual([]);
  });
});
