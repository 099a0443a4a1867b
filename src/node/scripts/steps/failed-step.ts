/** Names the step in which a script failed: the last step that failed in this part of the attempt, if the script ended with its status. */
import { existsSync } from 'node:fs';
import type { Failure, RunningJob } from '../../../core/job/job.ts';
import type { Step } from '../../../core/job/step.ts';
import { plainName } from '../../../core/job/step.ts';
import type { AttemptEnd } from '../../../runner/attempt/attempt.ts';
import { attemptFolder } from '../../home.ts';
import type { ScriptHost } from '../script-host.ts';
import { answerFolder } from './step-files.ts';

/** The status with which `longhaul step` ends a command that took too long. */
const TIMED_OUT = 124;

/** Returns the failure with the step. A script that gave its own message or group keeps it. */
export async function withFailedStep(
  host: ScriptHost,
  job: RunningJob,
  { end, failure }: { readonly end: AttemptEnd; readonly failure: Failure },
): Promise<Failure> {
  const { group, message, detail } = failure;
  const status = end.exit?.status ?? null;
  const hasOwnMessage = !message.startsWith(`exited with status ${status}`);
  if (hasOwnMessage || !existsSync(answerFolder(attemptFolder(host.home, job.id, job.attempt)))) return failure;
  // One try: a store that is unavailable must not delay the end of the attempt.
  const steps = await host.store.jobs.steps(job.id).catch(() => []);
  const step = lastOf(steps, job.lease.claimedAt);
  if (step?.status !== 'failed' || (status !== TIMED_OUT && step.failure !== detail)) return failure;
  return {
    group: end.said.group === null ? `step ${plainName(step.name)}: ${group}` : group,
    message: `step ${step.name}: ${status === TIMED_OUT ? step.failure : message}`,
    detail,
  };
}

/** Returns the command that ended last since then. */
function lastOf(steps: readonly Step[], since: number): Step | undefined {
  const ended = steps.filter(({ kind, endedAt }) => kind === 'run' && endedAt !== null && endedAt >= since);
  return ended.reduce<Step | undefined>(
    (last, step) => (last === undefined || (step.endedAt ?? 0) >= (last.endedAt ?? 0) ? step : last),
    undefined,
  );
}
