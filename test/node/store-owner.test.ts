/** Two data directories on one SQLite store: one node at a time, and none while attempts of the other are not settled. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli } from '../processes/scripts-workbench.ts';
import { aBench } from './serve-bench.ts';

test('A second data directory on a SQLite store is refused with the reason, and runs its own scripts once it may.', async () => {
  const [first, second] = [aBench(), aBench()];
  const gate = join(first.home, 'gate');
  first.queue('mail', `while [ ! -e ${gate} ]; do sleep 0.05; done; echo of the first`);
  second.queue('mail', 'echo of the second');
  const refused = async (): Promise<string> => {
    const serve = [process.execPath, cli, 'serve', '--home', second.home, '--store', first.home];
    const node = await second.begin(serve);
    expect(await node.ended).toEqual({ code: 2, signal: null });
    expect(existsSync(join(second.home, 'node.lock'))).toBe(false);
    return node.lines.join('\n');
  };

  const node = await first.serve();
  const left = await first.add('mail');
  await first.until(left, ({ state, lease }) => state === 'running' && lease?.startedAt !== null);
  expect(await refused()).toContain(`belongs to the data directory ${first.home}, whose node (pid ${node.pid}) runs`);

  expect((await node.terminate()).code).toBe(0);
  expect(await refused()).toContain(`1 attempt of the data directory ${first.home} is not settled (job ${left})`);

  writeFileSync(gate, '');
  const again = await first.serve();
  await first.until(left, 'done');
  await again.terminate();
  const other = await second.serve(['--store', first.home]);
  const job = await first.add('mail');
  expect(await first.until(job, 'done')).toMatchObject({ attempt: 1 });
  expect(second.log(job)).toBe('of the second\n');
  expect((await other.terminate()).code).toBe(0);
});
