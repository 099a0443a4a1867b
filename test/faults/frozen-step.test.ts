/**
 * A worker that is frozen between two steps until another worker has finished its job. It must not begin the next step
 * when it continues, although the loss of its lease is still on its way to it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { startFixture } from '../support/processes.ts';
import { aFolder } from './fault-environment.ts';

it('a worker that was frozen between two steps begins none after its lease was lost', async () => {
  const [address, ledger] = [aFolder(), join(aFolder(), 'ledger')];
  writeFileSync(ledger, '');
  const lines = (): readonly string[] => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);
  const longhaul = await connect(address);
  onTestFinished(() => longhaul.close());
  const queue = longhaul.queue<null, number[]>('steps');
  await queue.configure({ lease: 1_000, heartbeat: 250 });
  const job = await queue.add(null);
  await longhaul.notify(job.id, 'go');
  const start = (betweenMs: number) =>
    startFixture('steps-worker.mjs', [JSON.stringify({ address, connect: {}, ledger, stepMs: 1, betweenMs })]);
  const frozen = await start(400);
  await waitFor('the first step is kept', async () => lines().some((line) => line === `kept ${job.id} s1`));
  frozen.stop();
  await start(0);
  expect(await job.finished()).toEqual([1, 2, 3, 4, 5]);
  frozen.cont();
  await sleep(1_000);
  const runs = lines().filter((line) => line.startsWith('run '));
  expect(runs).toEqual([1, 2, 3, 4, 5].map((n) => `run ${job.id} s${n}`));
});
