/** The scripts of examples/ as a user runs them: copied to a directory and named by a queue. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { Bench } from './scripts-workbench.ts';

const root = join(import.meta.dirname, '../..');
const bench = new Bench();
const own = join(bench.home, 'scripts');
const scripts = {
  bash: 'bash/squares.sh',
  python: 'python/squares.py',
  ruby: 'ruby/squares.rb',
  typescript: 'typescript/squares.js',
};
const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);

beforeAll(async () => {
  cpSync(join(root, 'examples/scripts'), own, { recursive: true });
  compile(join(own, 'typescript'));
  writeFileSync(join(bench.home, 'node.json'), JSON.stringify({ scriptDirs: [own] }));
  for (const [name, path] of Object.entries(scripts)) bench.settings(name, { script: join(own, path) });
  bench.queue('copies', 'true');
  await bench.serve();
});

/** Also checked by its types, as strictly as our own code. */
function compile(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck', '--types', 'node'];
  const types = ['--typeRoots', join(root, 'node_modules/@types')];
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'squares.ts'], {
    cwd: folder,
  });
  chmodSync(join(folder, 'squares.js'), 0o755);
}

it.each(Object.keys(scripts))('the example in %s uses its verbs, and each takes effect', async (queue) => {
  const id = await bench.add(queue, { n: 4 });
  expect(await bench.until(id, ended, 45_000)).toMatchObject({
    state: 'done',
    result: { sum: 30 },
    tags: ['squares'],
    progress: { percent: 100, text: 'squared 4 numbers' },
  });
  const { store } = await bench.longhaul();
  expect(JSON.parse((await store.jobs.find([id]))[0]?.checkpoint ?? 'null')).toEqual({ done: 4 });
  const [first, ...rest] = bench.log(id).trimEnd().split('\n');
  expect(first).toBe('square of 1 is 1');
  const copy = rest.at(-1)?.split('/').at(-1) ?? '';
  expect(await bench.until(copy, ended)).toMatchObject({ queue: 'copies', state: 'done' });
  const made = JSON.parse((await store.records.get('attachment', `${id}/out/sum.txt`))?.value ?? '{}') as {
    size: number;
  };
  expect(made.size).toBe('30\n'.length);
});
