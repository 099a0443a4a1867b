/**
 * One attempt of a script: taken up where an earlier node left it, or started anew; heard; and when it is over, ended
 * completely, its outputs taken, and its end put into the worker's terms.
 *
 * Invariant: an attempt is taken up only on the word of its own mark (same token). A folder without one was left by
 * somebody else, and never says how this attempt ended.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import { putDeadline } from '../../runner/attempt/deadline.ts';
import type { Said } from '../../runner/protocol/reports.ts';
import type { AttemptContext, RunOutcome } from '../../worker/attempt/run-outcome.ts';
import { AttemptAborted } from '../../worker/attempt/stop-reason.ts';
import { type EndFacts, noteEnd, readAttemptRecord } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import { takeOutputs } from './outputs.ts';
import type { RunningScript } from './running-scripts.ts';
import type { ScriptHost } from './script-host.ts';
import { scriptOutcome } from './script-outcome.ts';
import { listenTo } from './script-reports.ts';
import { type Begun, startScript } from './script-start.ts';
import { whenRoom } from './when-room.ts';
import { removeWorkFolder } from './workdir.ts';

export async function runScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<RunOutcome> {
  const isNew = !host.marks.has(job);
  const begun = isNew ? await startScript(host, job, context) : await takeUp(host, job, context);
  if ('outcome' in begun) return begun.outcome;
  const { attempt } = begun;
  const { graceMs } = host.settingsFor(job.queue);
  const attended = attend(host, { job, context, attempt, isNew, graceMs });
  try {
    const end = await attempt.end;
    const stopped = await attempt.terminate({ graceMs });
    const askedAt = attended.askedAt();
    const stop = askedAt === null ? null : { askedAt, goneAt: Date.now() };
    await keepLastWords(end.said, context);
    return await finish(host, { job, context, attempt }, { end, stopped, stop });
  } finally {
    attended.release();
  }
}

async function takeUp(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Begun> {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const found = await host.runner.adopt(folder, listenTo(host, job, context));
  if (found.state === 'never-started')
    return { outcome: { kind: 'release', reason: 'its node ended before it began' } };
  // Its numbers name other processes now: nothing is signalled, and it is no fault of the job.
  if (found.state === 'other-boot') return { outcome: { kind: 'release', reason: 'the machine was started anew' } };
  const record = await readAttemptRecord(folder);
  if (record !== null) context.ranBefore(Math.max(0, Date.now() - record.startedAt - record.pausedMs));
  return { attempt: found.attempt };
}

interface Attended extends RunningScript {
  readonly graceMs: number;
}

/** Everything that must happen while it runs: it can be stopped, paused, and where others share the store, overdue. */
function attend(host: ScriptHost, { job, context, attempt, isNew, graceMs }: Attended): Attendance {
  let askedAt: number | null = null;
  const stop = (): void => {
    askedAt = Date.now();
    attempt.terminate({ graceMs }).catch((error: unknown) => host.onTrouble(`job ${job.id} could not be ended`, error));
  };
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  host.running.add({ job, context, attempt, isNew });
  const putOff = host.store.isShared ? keepPuttingOff(attempt, job, context) : () => undefined;
  const release = (): void => {
    putOff();
    host.running.remove(job);
    context.signal.removeEventListener('abort', stop);
  };
  return { askedAt: () => askedAt, release };
}

interface Attendance {
  /** When somebody asked for its end; null when nobody did. */
  askedAt(): number | null;
  release(): void;
}

/** As long as the lease is renewed, the deadline is put off: where other nodes share the store, nobody runs it twice. */
function keepPuttingOff(attempt: Attempt, job: RunningJob, context: AttemptContext): () => void {
  const timer = setInterval(() => {
    // From before the call: what the store counted from came after it.
    const askedAt = performance.now();
    context.heartbeatNow().then(
      () => putDeadline(attempt.folder, job.lease.ms - (performance.now() - askedAt)),
      () => undefined,
    );
  }, job.lease.ms / 4).unref();
  return () => clearInterval(timer);
}

/** What its result or its failure does not hold already. A lease that is lost has no use for them. */
async function keepLastWords({ progress, status, result }: Said, context: AttemptContext): Promise<void> {
  if (progress === null && (status === null || result === null)) return;
  await context.progressNow(progress?.percent ?? null, status).catch(() => undefined);
}

/** Its job is somebody else's by now: what it made must not be mixed with what the other makes. */
function isLost({ reason }: AbortSignal): boolean {
  return reason instanceof AttemptAborted && reason.reason === 'lease-lost';
}

async function finish(
  host: ScriptHost,
  { job, context, attempt }: Pick<RunningScript, 'job' | 'context' | 'attempt'>,
  facts: Omit<EndFacts, 'refused' | 'logGaps'>,
): Promise<RunOutcome> {
  const { end, stopped } = facts;
  const { signal } = context;
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const onWait = (error: unknown): void => host.onTrouble(`job ${job.id} has ended, and waits for room`, error);
  if (stopped.left > 0)
    host.onTrouble(`${stopped.left} processes of job ${job.id} are left, known by ${stopped.means.join(', ')}`, null);
  const take = () => takeOutputs(host, job, { folder, said: end.said });
  const refused = isLost(signal) ? [] : await whenRoom(take, { signal, onWait });
  const note = (): void => {
    attempt.logGaps.mark(Date.now());
    noteEnd(folder, { ...facts, refused, logGaps: attempt.logGaps.all });
  };
  // What its job becomes does not depend on the note.
  await whenRoom(note, { signal, onWait }).catch((error: unknown) =>
    host.onTrouble(`the end of job ${job.id} could not be noted`, error),
  );
  await removeWorkFolder(folder);
  // Before it is settled: once it is, nothing of it may depend on this node alone.
  if (!isLost(signal)) await host.keepCopy(job);
  return scriptOutcome(end, host.settingsFor(job.queue));
}
