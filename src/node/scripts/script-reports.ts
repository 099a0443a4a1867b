/**
 * Handles the reports that a script writes to fd 3.
 *
 * Invariant: reports are handled in order, and acknowledged afterwards. A node that dies in between handles a report
 * twice rather than never, so handling is idempotent.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Phase } from '../../core/job/phase.ts';
import { withPhaseOf } from '../../core/job/phase.ts';
import type { Attempt, WatchOptions } from '../../runner/attempt/attempt.ts';
import type { ReportBatch, ReportedVerb } from '../../runner/protocol/report-reader.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import { notePhases, readAttemptRecord } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import { duplicate } from './duplicate.ts';
import { isLargeResult } from './outputs.ts';
import type { ScriptHost } from './script-host.ts';
import { keepStep } from './steps/keep-step.ts';
import { keepWait } from './steps/wait-steps.ts';

export function watchOptionsFor(host: ScriptHost, job: RunningJob, context: AttemptContext): WatchOptions {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const phases = new PhaseRecorder(folder);
  const find = (): Attempt | undefined => host.runner.attempts().find((each) => each.folder === folder);
  const { logBytes, memoryBytes } = host.settingsFor(job.queue).limits;
  return {
    maxLogBytes: logBytes ?? Number.MAX_SAFE_INTEGER,
    ...(memoryBytes !== null && { maxMemoryBytes: memoryBytes }),
    listener: {
      onStarted: (record) => context.started(record.script?.pid ?? record.shim.pid),
      onOutput: () => context.alive(),
      onReports: async (batch) => {
        const attempt = find();
        context.alive();
        for (const each of batch.heard) await handle(host, { job, context, attempt, batch }, each);
        const { progress, status } = batch.said;
        await phases.record(batch);
        context.progress(progress?.percent ?? null, status ?? progress?.text ?? null);
        attempt?.heard(batch.to);
      },
    },
  };
}

interface ReportSource {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly attempt: Attempt | undefined;
  readonly batch: ReportBatch;
}

/** Handles the verbs that need an immediate effect. Completions wait for the end. */
async function handle(
  host: ScriptHost,
  { job, context, attempt, batch }: ReportSource,
  { verb, at }: ReportedVerb,
): Promise<void> {
  switch (verb.kind) {
    case 'dup':
      attempt?.answer(await duplicate(host, { job, dest: verb.dest, delayMs: verb.delayMs, at }));
      return;
    case 'checkpoint':
      if (isLargeResult(verb.json))
        return host.onTrouble(`the checkpoint of job ${job.id} is too large for the store`, null);
      // The worker stores it before the settlement.
      void context.checkpoint(verb.json).catch(() => undefined);
      return;
    case 'tag':
      await host.store.jobs.change([{ id: job.id, tags: [...new Set([...job.tags, ...batch.said.tags])] }]);
      return;
    case 'step':
      return keepStep(host, { job, context, key: verb.key });
    case 'sleep':
    case 'wait':
      return fixWakeTime(host, { job, context, batch });
    case 'bad':
      host.onTrouble(`job ${job.id} reported ${verb.word}, which ${verb.problem}`, null);
      return;
    default:
      return;
  }
}

/** The time of a wait counts from its line, not from the exit. The first completion counts, as at the end. */
async function fixWakeTime(
  host: ScriptHost,
  { job, context, batch }: Pick<ReportSource, 'job' | 'context' | 'batch'>,
): Promise<void> {
  const { completion } = batch.said;
  if (completion?.kind !== 'sleep' && completion?.kind !== 'wait') return;
  // The end repeats the call, and reports its errors.
  await keepWait(host, { job, context }, completion).catch(() => undefined);
}

/**
 * Records in the attempt's record when a status text names another phase. A node that adopts the attempt continues from
 * there; the same report twice changes nothing.
 */
class PhaseRecorder {
  readonly #folder: string;
  /** Null until the first report: most scripts report nothing. */
  #phases: readonly Phase[] | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async record({ heard }: ReportBatch): Promise<void> {
    const texts = heard.flatMap(({ verb }) => (verb.kind === 'run' || verb.kind === 'progress' ? [verb.text] : []));
    if (texts.length === 0) return;
    const before = this.#phases ?? (await readAttemptRecord(this.#folder))?.phases ?? [];
    const now = Date.now();
    this.#phases = texts.reduce((phases, each) => withPhaseOf(phases, each, now), before);
    if (this.#phases !== before) notePhases(this.#folder, this.#phases);
  }
}
