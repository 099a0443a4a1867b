import { expect, it } from 'vitest';
import type { RunningJob } from '../../core/job/job.ts';
import type { SettleResult } from '../../core/ports/job-store.ts';
import type { WorkerEvent } from '../../worker/loop/worker-event.ts';
import { logNews } from './serve-events.ts';
import { createLog } from './serve-log.ts';

const JOB = { id: 'a', queue: 'mail', attempt: 2 } as RunningJob;
const FAILURE = { group: 'exit-143', message: 'killed by SIGTERM', detail: null };

function logged(answer: SettleResult): unknown {
  let text = '';
  const log = createLog({ format: 'json', isColoured: false, write: (chunk) => void (text += chunk) });
  const settlement = { id: 'a', token: 1, kind: 'fail', failure: FAILURE, delayMs: 0 } as const;
  const event: WorkerEvent = { type: 'ended', job: JOB, settlement, answer, stopReason: 'cancel' };
  logNews(log, { type: 'worker', event });
  return JSON.parse(text);
}

it('logs the attempt of a cancelled job as cancelled, although its script was killed', () => {
  expect(logged({ ok: true, state: 'cancelled' })).toMatchObject({
    how: 'cancelled',
    msg: 'job a of mail, attempt 2: cancelled',
  });
});

it('logs a failed attempt as a failure', () => {
  expect(logged({ ok: true, state: 'waiting' })).toMatchObject({ how: 'fail' });
});
