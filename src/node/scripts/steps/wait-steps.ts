/**
 * The waits of a script: the step behind the verbs `sleep` and `wait`, and what became of it at the next start.
 *
 * A script is started from its beginning after a wait, and learns from `steps.json` that the wait is over. So a verb
 * names no step: it means the first wait of its name that is not over.
 */
import { checked } from '../../../core/input/check.ts';
import type { RunningJob } from '../../../core/job/job.ts';
import { eventName } from '../../../core/job/names.ts';
import type { Step } from '../../../core/job/step.ts';
import { numberedName } from '../../../core/job/step.ts';
import type { WaitVerb } from '../../../runner/protocol/parse-verb.ts';
import type { AttemptContext, AttemptOutcome } from '../../../worker/attempt/run-outcome.ts';
import type { ScriptHost } from '../script-host.ts';
import { type ScriptSteps, scriptSteps } from './step-store.ts';

type WaitOutcome = AttemptOutcome & { readonly kind: 'suspend' | 'fail' };

/**
 * Keeps the step of a wait. Returns the outcome with which the script waits once it has exited. The wake time is fixed by
 * the first call; a repeated one changes nothing.
 */
export async function keepWait(
  host: ScriptHost,
  { job, context }: { readonly job: RunningJob; readonly context: AttemptContext },
  wait: WaitVerb,
): Promise<WaitOutcome> {
  const steps = scriptSteps(host.store, job, context);
  const kind = wait.kind === 'sleep' ? 'sleep' : 'event';
  const delayMs = wait.kind === 'sleep' ? wait.delayMs : wait.timeoutMs;
  const plain = wait.kind === 'sleep' ? 'sleep' : checked('wait', wait.name, eventName);
  const name = openName(await steps.list(), kind, plain);
  const kept = await steps.keep({ kind, name, status: 'waiting', ...(delayMs !== null && { delayMs }) });
  if (kept.ok)
    return { kind: 'suspend', until: kept.step.until, event: kind === 'event' ? name : null, children: null };
  return { kind: 'fail', failure: { group: kept.refusal.code, message: kept.refusal.message, detail: null } };
}

/** Returns the name of the first step of this name that is not over. */
function openName(steps: readonly Step[], kind: Step['kind'], plain: string): string {
  for (let n = 1; ; n += 1) {
    const name = numberedName(plain, n);
    const step = steps.find((each) => each.kind === kind && each.name === name);
    if (step === undefined || step.status === 'waiting' || step.status === 'arrived') return name;
  }
}

/** Returns the steps of the job for a script that starts, after the waits that are over were ended. */
export async function endWaits(
  host: ScriptHost,
  job: RunningJob,
  context: AttemptContext,
): Promise<readonly Step[] | null> {
  if (job.steps === null) return null;
  const calls = scriptSteps(host.store, job, context);
  const steps = await calls.list();
  return Promise.all(steps.map((step) => endWait(calls, step, job.suspension?.event ?? null)));
}

/** By the store's time: the clock of this node may differ. */
async function endWait(calls: ScriptSteps, step: Step, awaited: string | null): Promise<Step> {
  const { kind, name, until } = step;
  const isAwaited = kind === 'event' && name === awaited;
  if (kind !== 'sleep' && kind !== 'event') return step;
  if (step.status !== 'waiting' && !(step.status === 'arrived' && isAwaited)) return step;
  const seen = await calls.keep({ kind, name, status: 'waiting' });
  if (!seen.ok) return step;
  if (seen.step.status === 'arrived') return isAwaited ? ended(calls, seen.step, 'done') : seen.step;
  if (until === null || until > seen.now) return seen.step;
  if (kind === 'sleep') return ended(calls, seen.step, 'done');
  // The step decides between an event and a timeout that come together.
  const late = await ended(calls, seen.step, 'failed');
  return late.status === 'arrived' ? ended(calls, late, 'done') : late;
}

async function ended(calls: ScriptSteps, step: Step, status: 'done' | 'failed'): Promise<Step> {
  const { kind, name } = step;
  const failure = status === 'failed' ? { failure: 'it did not arrive in time' } : {};
  const kept = await calls.keep({ kind, name, status, ...failure });
  return kept.ok ? kept.step : step;
}
