/** Runs a handler: parses and checks the data, calls the handler, and converts what it returns to an attempt outcome. */
import { toJsonText } from '../core/input/json.ts';
import { groupOfMessage } from '../core/job/failure.ts';
import type { RunningJob } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import { parentsOf } from '../files/attachments/parents.ts';
import type { AttemptContext, AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { Handler, HandlerPort } from './active-job.ts';
import { activeJob } from './active-job.ts';
import { openAttemptLog } from './attempt-log.ts';
import type { HandlerOutcome } from './outcome.ts';
import { outcomeIn } from './outcome.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validate } from './standard-schema.ts';
import { HandlerSteps } from './steps/handler-steps.ts';

export interface HandlerRun<Data, Result> {
  readonly handler: Handler<Data, Result>;
  readonly schema: StandardSchema<unknown, Data> | null;
  readonly home: string | null;
  readonly store: Store;
  onLog(job: RunningJob, line: string): void;
  onTrouble(what: string, error: unknown): void;
}

export async function runHandler<Data, Result>(
  run: HandlerRun<Data, Result>,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const log = openAttemptLog(run, job, (error) => run.onTrouble(`the log of job ${job.id}`, error));
  try {
    const parsed = JSON.parse(job.data) as Data;
    const data = run.schema === null ? parsed : await validate(`data of job ${job.id}`, run.schema, parsed);
    let steps: HandlerSteps | null = null;
    const port: HandlerPort = {
      steps: () => {
        steps ??= new HandlerSteps(run.store, job, () => context.signal);
        return steps;
      },
      signal: () => context.signal,
      parents: () => parentsOf(run.store, job),
      progress: (percent, text) => context.progress(percent, text),
      checkpoint: (text: string) => void context.checkpoint(text).catch(() => undefined),
      log: (line: string) => {
        context.alive();
        log.write(line);
        run.onLog(job, line);
      },
    };
    return await outcomeOf(
      () => run.handler(activeJob(job, data, port)),
      () => steps,
    );
  } finally {
    await log.close();
  }
}

/** Returns the outcome of a handler. What it returns or throws after it was suspended is ignored. */
async function outcomeOf(handle: () => unknown, steps: () => HandlerSteps | null): Promise<AttemptOutcome> {
  try {
    const value = await handle();
    return (await steps()?.outcome()) ?? toRunOutcome(value);
  } catch (error) {
    const suspended = await steps()?.outcome();
    if (suspended === null || suspended === undefined) throw error;
    return suspended;
  }
}

function toRunOutcome(value: unknown): AttemptOutcome {
  const outcome = outcomeIn(value);
  if (outcome !== null) return toAttemptOutcome(outcome);
  return { kind: 'complete', result: toJsonText('result', value, { dates: 'text' }) };
}

function toAttemptOutcome(outcome: HandlerOutcome): AttemptOutcome {
  switch (outcome.kind) {
    case 'complete':
      return { kind: 'complete', ...(outcome.next !== null && { next: outcome.next }) };
    case 'fail': {
      const failure = {
        group: outcome.group ?? groupOfMessage(outcome.message),
        message: outcome.message,
        detail: null,
      };
      return { kind: 'fail', failure, final: outcome.isFinal };
    }
    case 'retry': {
      const failure = { group: 'retry', message: outcome.reason, detail: null };
      return { kind: 'retry', failure, delayMs: outcome.delayMs };
    }
    case 'release':
    case 'forward':
      return outcome;
  }
}
