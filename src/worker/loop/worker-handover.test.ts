import { expect, it } from 'vitest';
import { startWorker } from '../../../test/support/trial-worker.ts';
import type { RunningJob } from '../../core/job/job.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';

const never: AttemptRunner = () => new Promise(() => undefined);

it('leaves attempts that outlive it running: no stop, a long lease, and the next worker settles them', async () => {
  const store = openMemoryStore();
  const first = await startWorker({ store, run: never, settings: { leaseMs: 1_000 } });
  await first.add('a');
  await first.next('started');
  await first.worker.stop({ leaveMs: 600_000 });
  expect(first.events.filter(({ type }) => type === 'stopping' || type === 'ended')).toEqual([]);
  const left = await first.find('a');
  expect(left).toMatchObject({ state: 'running', attempt: 1, lease: { ms: 600_000 } });

  const second = await startWorker({
    store,
    own: [left as RunningJob],
    run: async () => ({ kind: 'complete', result: '7' }),
  });
  await second.next('ended');
  expect(await second.find('a')).toMatchObject({
    state: 'done',
    attempt: 1,
    result: '7',
    crashes: 0,
    interruptions: 0,
  });
});

it('counts a crash at once when the process of an attempt is lost, and the job goes to the front', async () => {
  let isFirst = true;
  const trial = await startWorker({
    run: async () => {
      if (!isFirst) return { kind: 'complete' };
      isFirst = false;
      return { kind: 'crash', reason: 'its shim was lost' };
    },
  });
  await trial.add('a');
  await trial.next('ended', ({ settlement }) => settlement?.kind === 'crash');
  await trial.next('ended', ({ settlement }) => settlement?.kind === 'complete');
  expect(await trial.find('a')).toMatchObject({ state: 'done', attempt: 2, crashes: 1, failures: 0 });
});
