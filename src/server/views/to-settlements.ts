/** Turns the settle requests of external workers into settlements; absent delays come from the queue's settings. */
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import type { Settlement } from '../../core/ports/job-store.ts';
import type { SettlementInput } from '../../wire/work-input.ts';
import type { ServerContext } from './context.ts';

export function toSettlements(
  context: ServerContext,
  inputs: readonly SettlementInput[],
): Promise<readonly Settlement[]> {
  return Promise.all(inputs.map((each) => toSettlement(context, each)));
}

async function toSettlement(context: ServerContext, input: SettlementInput): Promise<Settlement> {
  switch (input.kind) {
    case 'complete': {
      const { next, ...rest } = input;
      if (next === undefined) return rest;
      const { delay = 0, ...to } = next;
      return { ...rest, next: { ...to, delayMs: delay } };
    }
    case 'fail':
    case 'retry': {
      const { delay, ...rest } = input;
      return { ...rest, delayMs: delay ?? (await delayAfterFailure(context, input.id)) };
    }
    case 'resend': {
      const { delay = 0, reason = 'the handler asked for a resend', ...rest } = input;
      return { ...rest, delayMs: delay, reason };
    }
    case 'release':
      return { ...input, reason: input.reason ?? 'the worker released the job' };
    case 'forward':
      return input;
  }
}

/** Returns the delay that a library worker would use. 0 for an unknown job, which the store refuses. */
async function delayAfterFailure({ store, settings }: ServerContext, id: string): Promise<number> {
  const [job] = await store.jobs.find([id]);
  if (job === null || job === undefined) return 0;
  const backoff = job.policy.backoff ?? (await settings.read(job.queue)).backoff;
  return backoffMs(backoff, job.failures + 1, Math.random());
}
