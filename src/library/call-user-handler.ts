/**
 * Calls a handler and converts what it returns or throws to an attempt outcome. Used in the worker's process and in
 * isolated processes and threads, so it imports nothing of the worker or a store. The stack of a failure ends before the
 * frame of callUserHandler, which failureOf() finds by its name.
 */
import { toJsonText } from '../core/input/json.ts';
import { groupOfMessage } from '../core/job/failure.ts';
import type { AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { ActiveJob, Handler } from './active-job.ts';
import { suspensionOf } from './active-job.ts';
import type { HandlerOutcome } from './outcome.ts';
import { outcomeIn } from './outcome.ts';

/**
 * Rejects when the handler throws. What it returns or throws after it was suspended is ignored. The result may be too large
 * for the store: the worker then attaches it.
 */
export async function callUserHandler<Data, Result>(
  handler: Handler<Data, Result>,
  job: ActiveJob<Data>,
): Promise<AttemptOutcome> {
  let value: unknown;
  try {
    value = await handler(job);
  } catch (error) {
    const suspended = await suspensionOf(job);
    if (suspended === null) throw error;
    return suspended;
  }
  // Without an await for the jobs that cannot be suspended: each costs a turn of the microtask queue.
  const suspension = suspensionOf(job);
  const suspended = suspension === null ? null : await suspension;
  if (suspended !== null) return suspended;
  const outcome = outcomeIn(value);
  if (outcome !== null) return toAttemptOutcome(outcome);
  return { kind: 'complete', result: toJsonText('result', value, { dates: 'text', isLimited: false }) };
}

function toAttemptOutcome(outcome: HandlerOutcome): AttemptOutcome {
  switch (outcome.kind) {
    case 'complete':
      return { kind: 'complete', ...(outcome.next !== null && { next: outcome.next }) };
    case 'fail': {
      const failure = {
        group: outcome.group ?? groupOfMessage(outcome.message),
        message: outcome.message,
        detail: null,
      };
      return { kind: 'fail', failure, final: outcome.isFinal };
    }
    case 'retry': {
      const failure = { group: 'retry', message: outcome.reason, detail: null };
      const { delayMs, throttle } = outcome;
      return { kind: 'retry', failure, delayMs, ...(throttle !== undefined && { throttle }) };
    }
    case 'release':
    case 'forward':
      return outcome;
  }
}
