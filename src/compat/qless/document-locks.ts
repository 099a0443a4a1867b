/**
 * Locks of the first document: the caller names their end, a job may be renewed and settled only before that, and its
 * methods need no worker. So the object that popped a job remembers its token.
 */
import type { Job, RunningJob } from '../../core/job/job.ts';
import type { Call } from './arguments.ts';
import { numberArgument, raise, wrong } from './arguments.ts';
import { runningJob, type Words } from './commands/attempt-commands.ts';

export const DOCUMENT: Words = {
  command: 'Qless',
  notRunning: 'is not pending',
  another: 'was given to another worker',
};

/** The document limits no retries: the largest number that Longhaul takes. */
export const NO_RETRY_LIMIT = 1_000_000_000;

export function rememberTokens({ session }: Call, jobs: readonly Job[]): void {
  for (const { id, lease } of jobs) if (lease !== null) session.tokens.set(id, lease.token);
}

/** Returns the job if its lock has not expired and belongs to this worker, or to this object. */
export async function lockedJob(call: Call, id: string, worker: string | undefined): Promise<RunningJob> {
  const { tokens } = call.session;
  const token = tokens.get(id);
  const job = await runningJob(call, id, DOCUMENT).catch((error: unknown) => {
    tokens.delete(id);
    throw error;
  });
  const { lease } = job;
  if (token !== undefined && token !== lease.token) tokens.delete(id);
  if (lease.until <= call.nowMs) return raise(`Qless(): the lock of job ${id} has expired`);
  const isHeld = worker === undefined ? token === lease.token : worker === lease.worker;
  return isHeld ? job : raise(`Qless(): Job ${id} ${DOCUMENT.another}`);
}

/** Forgets the token of a job that this call ends. */
export async function ended<Answer>({ session }: Call, id: string, end: () => Promise<Answer>): Promise<Answer> {
  const answer = await end();
  session.tokens.delete(id);
  return answer;
}

/** Returns the length of a lock that ends at this time, in milliseconds. */
export function leaseUntil({ nowMs }: Call, expiration: unknown): number {
  const leaseMs = Math.round(numberArgument(expiration, 'Qless', 'expiration') * 1_000) - nowMs;
  return leaseMs > 0 ? leaseMs : wrong('Qless(): Arg "expiration" must be later than now');
}
