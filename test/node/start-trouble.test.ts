/** A node that starts where something is missing: it continues without it, or ends and leaves nothing behind. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, eventually } from '../processes/scripts-workbench.ts';
import { aBench } from './serve-bench.ts';

/** A separate user without file watches: other programs of this machine may use all watches. */
const unwatched = ['-r', 'sh', '-c', 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', 'sh'];
const canForbidWatches = spawnSync('sh', ['-c', 'exec unshare "$@"', 'sh', ...unwatched, 'true']).status === 0;

test.runIf(canForbidWatches)(
  'Where the system has no watch left, a node serves all the same and sees new queues.',
  async () => {
    const bench = aBench();
    bench.queue('first', 'echo one');
    const node = await bench.begin(['unshare', ...unwatched, process.execPath, cli, 'serve', '--home', bench.home]);
    await node.says('longhaul serves');
    await bench.until(await bench.add('first'), 'done');
    bench.queue('second', 'echo two');
    await bench.until(await bench.add('second'), 'done');
    expect((await node.terminate()).code).toBe(0);
  },
);

test('A node that cannot start reports why and ends, with everything that it had started.', async () => {
  const bench = aBench();
  writeFileSync(join(bench.home, 'running'), 'a file where a folder belongs');
  const node = await bench.begin([process.execPath, cli, 'serve', '--home', bench.home]);
  await eventually(
    () => node.lines,
    (lines) => lines.some((line) => line.includes('EEXIST')),
  );
  expect(await node.ended).toEqual({ code: 1, signal: null });
  expect(existsSync(join(bench.home, 'node.lock'))).toBe(false);
});
