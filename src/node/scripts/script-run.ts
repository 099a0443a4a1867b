/**
 * Runs one attempt of a script: adopts or starts it, handles its reports, and at the end stops its processes, stores
 * its outputs and returns the outcome.
 *
 * Invariant: an attempt is adopted only if the registry has an entry with its token. A directory without one is from a
 * different attempt, and never tells how this attempt ended.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import { writeDeadline } from '../../runner/attempt/deadline.ts';
import type { Reports } from '../../runner/protocol/reports.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { AttemptAborted } from '../../worker/attempt/stop-reason.ts';
import { type EndFacts, noteEnd, readAttemptRecord } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import { withErrorLine } from './error-line.ts';
import { storeOutputs } from './outputs.ts';
import { retryOnFullDisk } from './retry-on-full-disk.ts';
import type { RunningScript } from './running-scripts.ts';
import type { ScriptHost } from './script-host.ts';
import { scriptOutcome } from './script-outcome.ts';
import { watchOptionsFor } from './script-reports.ts';
import { type StartResult, startScript } from './script-start.ts';
import { withFailedStep } from './steps/failed-step.ts';
import { keepWait } from './steps/wait-steps.ts';
import { removeWorkdir } from './workdir.ts';

export async function runScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<AttemptOutcome> {
  const isNew = !host.registry.has(job);
  const started = isNew ? await startScript(host, job, context) : await adoptScript(host, job, context);
  if ('outcome' in started) return started.outcome;
  const { attempt } = started;
  const { graceMs } = host.settingsFor(job.queue);
  const supervision = supervise(host, { job, context, attempt, isNew, graceMs });
  try {
    const end = await attempt.end;
    const stopped = await attempt.terminate({ graceMs });
    const askedAt = supervision.askedAt();
    const stop = askedAt === null ? null : { askedAt, goneAt: Date.now() };
    await keepFinalProgress(end.said, context);
    return await finish(host, { job, context, attempt }, { end, stopped, stop });
  } finally {
    supervision.release();
  }
}

async function adoptScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<StartResult> {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const found = await host.runner.adopt(folder, watchOptionsFor(host, job, context));
  if (found.state === 'never-started')
    return { outcome: { kind: 'release', reason: 'its node stopped before the script started' } };
  // Its pids name other processes now: nothing is signalled, and the job is not at fault.
  if (found.state === 'other-boot') return { outcome: { kind: 'release', reason: 'the machine was rebooted' } };
  const record = await readAttemptRecord(folder);
  if (record !== null) context.ranBefore(Math.max(0, Date.now() - record.startedAt - record.pausedMs));
  return { attempt: found.attempt };
}

interface SupervisedScript extends RunningScript {
  readonly graceMs: number;
}

/** Supervises a running script: stop, pause, and on a shared store its deadline. */
function supervise(host: ScriptHost, { job, context, attempt, isNew, graceMs }: SupervisedScript): Supervision {
  let askedAt: number | null = null;
  const stop = (): void => {
    askedAt = Date.now();
    attempt
      .terminate({ graceMs })
      .catch((error: unknown) => host.onTrouble(`job ${job.id} could not be stopped`, error));
  };
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  host.running.add({ job, context, attempt, isNew });
  const stopExtending = host.store.isShared ? extendDeadline(attempt, job, context) : () => undefined;
  const release = (): void => {
    stopExtending();
    host.running.remove(job);
    context.signal.removeEventListener('abort', stop);
  };
  return { askedAt: () => askedAt, release };
}

interface Supervision {
  /** When a stop was requested; null if none was. */
  askedAt(): number | null;
  release(): void;
}

/** Extends the deadline as long as the lease is renewed: on a shared store, no other node may run the job too. */
function extendDeadline(attempt: Attempt, job: RunningJob, context: AttemptContext): () => void {
  const timer = setInterval(() => {
    // Measured before the call: the store's lease begins after it.
    const askedAt = performance.now();
    context.heartbeatNow().then(
      () => writeDeadline(attempt.folder, job.lease.ms - (performance.now() - askedAt)),
      () => undefined,
    );
  }, job.lease.ms / 4).unref();
  return () => clearInterval(timer);
}

/** Stores a final progress that neither the result nor the failure contains. Useless after a lost lease. */
async function keepFinalProgress({ progress, status, result }: Reports, context: AttemptContext): Promise<void> {
  if (progress === null && (status === null || result === null)) return;
  await context.progressNow(progress?.percent ?? null, status).catch(() => undefined);
}

/** Whether the lease is lost: the outputs must not be mixed with those of the next attempt. */
function isLost({ reason }: AbortSignal): boolean {
  return reason instanceof AttemptAborted && reason.reason === 'lease-lost';
}

async function finish(
  host: ScriptHost,
  { job, context, attempt }: Pick<RunningScript, 'job' | 'context' | 'attempt'>,
  facts: Omit<EndFacts, 'refused' | 'logGaps' | 'before'>,
): Promise<AttemptOutcome> {
  const { end, stopped } = facts;
  const { signal } = context;
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const onWait = (error: unknown): void =>
    host.onTrouble(`job ${job.id} has ended, and waits for free disk space`, error);
  if (stopped.left > 0)
    host.onTrouble(`${stopped.left} processes of job ${job.id} are left, found by ${stopped.means.join(', ')}`, null);
  const store = () => storeOutputs(host, job, { folder, reports: end.said });
  const refused = isLost(signal) ? [] : await retryOnFullDisk(store, { signal, onWait });
  const { before } = (job.suspension === null ? null : await readAttemptRecord(folder)) ?? {};
  const record = (): void => {
    attempt.logGaps.mark(Date.now());
    noteEnd(folder, { ...facts, refused, logGaps: attempt.logGaps.all, ...(before && { before }) });
  };
  // The outcome does not depend on the record.
  await retryOnFullDisk(record, { signal, onWait }).catch((error: unknown) =>
    host.onTrouble(`the end of job ${job.id} could not be recorded`, error),
  );
  await removeWorkdir(folder);
  // Before the settlement: afterwards nothing of the job may depend on this node alone.
  if (!isLost(signal)) await host.copies.offerAttempt(job);
  const outcome = scriptOutcome(end, host.settingsFor(job.queue), attempt.pids?.script?.pid ?? null);
  if (outcome.kind === 'wait') return keepWait(host, { job, context }, outcome.wait);
  if (outcome.kind !== 'fail') return outcome;
  const failure = await withFailedStep(host, job, { end, failure: outcome.failure });
  return { ...outcome, failure: await withErrorLine(folder, { end, failure }) };
}
