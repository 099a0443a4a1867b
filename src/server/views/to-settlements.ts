/** What a foreign worker said of its attempts, as the store takes it: what it left open is filled in by the queue's rules. */
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import type { Settlement } from '../../core/ports/job-store.ts';
import type { SettlementInput } from '../../wire/work-input.ts';
import type { ServerContext } from './context.ts';

export function toSettlements(
  context: ServerContext,
  said: readonly SettlementInput[],
): Promise<readonly Settlement[]> {
  return Promise.all(said.map((each) => toSettlement(context, each)));
}

async function toSettlement(context: ServerContext, said: SettlementInput): Promise<Settlement> {
  switch (said.kind) {
    case 'complete': {
      const { next, ...rest } = said;
      if (next === undefined) return rest;
      const { delay = 0, ...to } = next;
      return { ...rest, next: { ...to, delayMs: delay } };
    }
    case 'fail':
    case 'retry': {
      const { delay, ...rest } = said;
      return { ...rest, delayMs: delay ?? (await delayAfterFailure(context, said.id)) };
    }
    case 'resend': {
      const { delay = 0, reason = 'it asked to be run again', ...rest } = said;
      return { ...rest, delayMs: delay, reason };
    }
    case 'release':
      return { ...said, reason: said.reason ?? 'its worker gave it back' };
    case 'forward':
      return said;
  }
}

/** As a worker of ours would wait. A job that is not there is for the store to refuse. */
async function delayAfterFailure({ store, settings }: ServerContext, id: string): Promise<number> {
  const [job] = await store.jobs.find([id]);
  if (job === null || job === undefined) return 0;
  const backoff = job.policy.backoff ?? (await settings.read(job.queue)).backoff;
  return backoffMs(backoff, job.failures + 1, Math.random());
}
