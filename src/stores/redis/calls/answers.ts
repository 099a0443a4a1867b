/** Decodes the short answers of scripts: states, refusals, counts and workers. */

import type { JobState } from '../../../core/job/job.ts';
import { type DependencyProblem, refuseDependency, refuseDependents } from '../../../core/lifecycle/dependencies.ts';
import { refuseStep, type StepProblem } from '../../../core/lifecycle/steps.ts';
import type {
  AddOutcome,
  AddResult,
  CancelResult,
  EndWorkerResult,
  HeartbeatResult,
  MaintenanceResult,
  NewJob,
  QueueCounts,
  TargetResult,
  WorkerRecord,
} from '../../../core/ports/job-store.ts';
import { type GuardedCall, type RefusalCode, type Refused, refuse, refuseState } from '../../../core/ports/refusal.ts';
import { FIELD, PART, unescapeText } from '../encoding/layout.ts';
import type { ScriptAnswer } from './script-runner.ts';

/** A refusal is `!` and its code, then what prevents the call. */
export function refusalIn(text: string, subject: string): Refused | undefined {
  if (!text.startsWith('!')) return undefined;
  const [code = '', ...rest] = text.slice(1).split(' ');
  const other = rest.join(' ');
  if (code === 'bad-dependency') return dependencyRefusal(subject.replace(/^job /, ''), rest);
  if (code === 'has-dependents') return refuseDependents(subject.replace(/^job /, ''), Number(other));
  if (code === 'store-moving') return refuse(code, other);
  if (code === 'queue-down' || code === 'queue-deleted') return refuse(code, `queue ${other}`);
  if (code === 'step-limit')
    return refuseStep(subject.replace(/^job /, ''), rest[0] as StepProblem, rest.slice(1).join(' '));
  if (code === 'wrong-state') return stateRefusal(subject.replace(/^job /, ''), rest);
  return refuse(code as RefusalCode, subject, other === '' ? undefined : other);
}

/** The state, and the call that it does not allow. */
function stateRefusal(id: string, [state = '', call = '']: readonly string[]): Refused {
  return refuseState({ id, state }, call as GuardedCall);
}

/** The kind of problem, how many ids, and the first of them. */
function dependencyRefusal(id: string, [problem = '', count = '', ...ids]: readonly string[]): Refused {
  return refuseDependency(id, problem as DependencyProblem, ids, Number(count));
}

export const linesOf = (answer: ScriptAnswer, separator: string): string[] =>
  typeof answer === 'string' && answer !== '' ? answer.split(separator) : [];

/** Returns one answer for each job of a call, in their order. */
export function readEach<T extends { readonly id: string }, R>(
  asked: readonly T[],
  answer: ScriptAnswer,
  read: (text: string, asked: T) => R,
): R[] {
  const texts = linesOf(answer, FIELD);
  return asked.map((each, index) => read(texts[index] ?? '', each));
}

export function readTarget(text: string, { id }: { readonly id: string }): TargetResult {
  return refusalIn(text, `job ${id}`) ?? { ok: true, state: text as JobState };
}

export function readCancel(text: string, { id }: { readonly id: string }): CancelResult {
  return refusalIn(text, `job ${id}`) ?? { ok: true, outcome: text as 'cancelled' | 'asked' };
}

export function readHeartbeat(text: string, { id }: { readonly id: string }): HeartbeatResult {
  const refused = refusalIn(text, `job ${id}`);
  if (refused !== undefined) return refused;
  const [cancelAsked, pauseAsked] = [text.includes('c'), text.includes('p')];
  return { ok: true, until: Number.parseFloat(text), cancelAsked, pauseAsked };
}

/** The script answers only for jobs that were not simply added. */
export function readAdded(jobs: readonly NewJob[], answer: ScriptAnswer): AddResult[] {
  const results = jobs.map(
    ({ id, queue, draft }): AddResult => ({
      ok: true,
      outcome: 'added',
      id,
      queue,
      state: draft === true ? 'draft' : 'waiting',
    }),
  );
  for (const line of linesOf(answer, PART)) {
    const [at = '', outcome = '', state = '', queue = '', id = ''] = line.split(FIELD);
    const asked = jobs[Number(at)];
    results[Number(at)] =
      outcome === '!queue-down' || outcome === '!queue-deleted'
        ? refuse(outcome === '!queue-down' ? 'queue-down' : 'queue-deleted', `queue ${asked?.queue}`)
        : (refusalIn(outcome, `job ${asked?.id}`) ?? {
            ok: true,
            outcome: outcome as AddOutcome,
            id,
            queue,
            state: state as JobState,
          });
  }
  return results;
}

export function readCounts(answer: ScriptAnswer): QueueCounts[] {
  return linesOf(answer, PART).map((line) => {
    const [queue = '', ...figures] = line.split(FIELD);
    const [draft = 0, waiting = 0, running = 0, done = 0, failed = 0, cancelled = 0, ...others] = figures.map(Number);
    const [scheduled = 0, relayed = 0, blocked = 0] = others;
    return { queue, draft, waiting, running, done, failed, cancelled, blocked, scheduled, relayed };
  });
}

interface ShownWorker {
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  readonly info: string;
}

export function readWorkers(answer: ScriptAnswer): WorkerRecord[] {
  const [time = '', ...rest] = Array.isArray(answer) ? (answer as readonly string[]) : [];
  const workers: WorkerRecord[] = [];
  for (let at = 0; at < rest.length; at += 3) {
    const [id = '', record = '', running = ''] = rest.slice(at, at + 3);
    const [registeredAt, seenAt, until, shown = '{}'] = record.split(FIELD);
    workers.push({
      id: unescapeText(id),
      ...(JSON.parse(unescapeText(shown)) as ShownWorker),
      registeredAt: Number(registeredAt),
      seenAt: Number(seenAt),
      until: Number(until),
      isLost: Number(until) <= Number(time),
      running: linesOf(running, FIELD),
    });
  }
  return workers.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function readEnd(answer: ScriptAnswer, id: string): EndWorkerResult {
  const text = String(answer);
  return refusalIn(text, `worker ${id}`) ?? { ok: true, returned: Number(text) };
}

export function readMaintenance(answer: ScriptAnswer): MaintenanceResult {
  const [overtaken, expiredDrafts, pruned, results, forgottenWorkers, more] = linesOf(answer, ' ');
  return {
    overtaken: Number(overtaken),
    expiredDrafts: Number(expiredDrafts),
    pruned: Number(pruned),
    results: Number(results),
    forgottenWorkers: Number(forgottenWorkers),
    more: more === 'yes',
  };
}
