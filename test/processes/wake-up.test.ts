/** A worker process learns of a job that another process adds to a SQLite file, and starts it, in less than 50 ms. */
import { expect, it } from 'vitest';
import { aFolder, openFaultEnvironment, printFigures, QUEUE } from '../faults/fault-environment.ts';
import { monotonicMs } from '../faults/ledger.ts';

const TIMES = 50;
const MAX_MS = 50;

it('A job added to a SQLite file is started by another process in less than 50 ms.', async () => {
  const environment = await openFaultEnvironment({ address: aFolder() });
  const worker = await environment.startWorker({ reportsStarts: true });
  const queue = environment.longhaul.queue(QUEUE);
  const addedAt = new Map<string, number>();
  for (let time = 0; time < TIMES; time++) {
    const before = monotonicMs();
    const { id } = await queue.add({}, { id: `wake-${time}` });
    addedAt.set(id, before);
    await worker.next((message) => message['type'] === 'start' && message['id'] === id);
    await environment.drained(5_000);
  }
  const starts = environment.ledgerEntries().filter(({ type }) => type === 'start');
  const delays = starts.map(({ id = '', at }) => at - (addedAt.get(id) ?? 0)).sort((a, b) => a - b);
  const median = delays[TIMES / 2] ?? Number.NaN;
  printFigures('wake-up over SQLite, add to start', {
    times: delays.length,
    medianMs: median,
    p90Ms: delays[Math.floor(TIMES * 0.9)] ?? 0,
    maxMs: delays.at(-1) ?? 0,
  });
  expect(delays).toHaveLength(TIMES);
  expect(median).toBeLessThan(MAX_MS);
});
