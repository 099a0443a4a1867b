/**
 * What a script says, acted upon.
 *
 * Invariant: in its order, and `heard` is told only after it was acted upon, so that a node that dies in between
 * hears it again rather than never. So everything here can be done twice.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attempt, WatchOptions } from '../../runner/attempt/attempt.ts';
import type { Heard, SaidBatch } from '../../runner/protocol/report-reader.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import { attemptFolder } from '../home.ts';
import { duplicate } from './duplicate.ts';
import { isLargeResult } from './outputs.ts';
import { SpokenPhases } from './phase-notes.ts';
import type { ScriptHost } from './script-host.ts';

export function listenTo(host: ScriptHost, job: RunningJob, context: AttemptContext): WatchOptions {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const phases = new SpokenPhases(folder);
  const find = (): Attempt | undefined => host.runner.attempts().find((each) => each.folder === folder);
  return {
    maxLogBytes: host.settingsFor(job.queue).limits.logBytes ?? Number.MAX_SAFE_INTEGER,
    listener: {
      onStarted: (record) => context.started(record.script?.pid ?? record.shim.pid),
      onOutput: () => context.alive(),
      onSaid: async (batch) => {
        const attempt = find();
        context.alive();
        for (const each of batch.heard) await act(host, { job, context, attempt, batch }, each);
        const { progress, status } = batch.said;
        await phases.hear(batch);
        context.progress(progress?.percent ?? null, status ?? progress?.text ?? null);
        attempt?.heard(batch.to);
      },
    },
  };
}

interface Speaker {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly attempt: Attempt | undefined;
  readonly batch: SaidBatch;
}

/** Only what asks for something at once; completions wait for the end. */
async function act(host: ScriptHost, { job, context, attempt, batch }: Speaker, { verb, at }: Heard): Promise<void> {
  switch (verb.kind) {
    case 'dup':
      attempt?.answer(await duplicate(host, { job, dest: verb.dest, delayMs: verb.delayMs, at }));
      return;
    case 'checkpoint':
      if (isLargeResult(verb.json))
        return host.onTrouble(`job ${job.id}: its checkpoint is too large for the store`, null);
      // Its worker sees to it that the store has it before the end.
      void context.checkpoint(verb.json).catch(() => undefined);
      return;
    case 'tag':
      await host.store.jobs.change([{ id: job.id, tags: [...new Set([...job.tags, ...batch.said.tags])] }]);
      return;
    case 'bad':
      host.onTrouble(`job ${job.id} said ${verb.word}, which ${verb.problem}`, null);
      return;
    default:
      return;
  }
}
