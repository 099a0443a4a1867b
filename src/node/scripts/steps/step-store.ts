/**
 * Calls about the steps of a script, repeated while the store is unavailable: what a command has done must not be lost.
 * They end with the attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningJob } from '../../../core/job/job.ts';
import type { Step } from '../../../core/job/step.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { StepResult, StepWrite } from '../../../core/ports/job-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import type { AttemptContext } from '../../../worker/attempt/run-outcome.ts';
import { RetryDelay } from '../../../worker/outcome/retry-delay.ts';

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

export interface ScriptSteps {
  /** Keeps a step under the token of the attempt. */
  keep(write: Omit<StepWrite, 'id' | 'token'>): Promise<StepResult>;
  list(): Promise<readonly Step[]>;
  /** Repeats a call that may be repeated, until the store answers or the attempt is over. */
  call<Answer>(make: () => Promise<Answer>): Promise<Answer>;
}

export function scriptSteps({ jobs }: Store, job: RunningJob, context: AttemptContext): ScriptSteps {
  const { id, lease } = job;
  const call = <Answer>(make: () => Promise<Answer>): Promise<Answer> => repeat(make, context);
  return {
    call,
    list: () => call(() => jobs.steps(id)),
    async keep(write) {
      const [answer] = await call(() => jobs.keepSteps([{ ...write, id, token: lease.token }]));
      if (answer === undefined) throw new Error('the store left a step unanswered');
      return answer;
    },
  };
}

async function repeat<Answer>(make: () => Promise<Answer>, context: AttemptContext): Promise<Answer> {
  const { signal } = context;
  const delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: Math.random });
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
    }
    // The script is not at fault.
    context.alive();
    await sleep(delay.next(), undefined, { signal }).catch(() => undefined);
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof LonghaulError && ['store-unavailable', 'outcome-unknown', 'store-full'].includes(error.code);
}
