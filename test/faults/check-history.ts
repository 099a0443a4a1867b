/**
 * The verdict of a test run: which promises were broken, from the reports of producers, handlers and the store.
 *
 * Pure. The names (I1 …) are those of the reliability promises. A broken promise is a `problem`. Events that must occur for
 * the verdict to mean anything are counted.
 */
import type { HistoryRow } from '../../src/core/job/history.ts';
import { isEnded, type Job } from '../../src/core/job/job.ts';
import { replayHistory } from './replay-history.ts';

export interface JobHistory {
  readonly job: Pick<Job, 'id' | 'state' | 'attempt' | 'lease'>;
  readonly rows: readonly HistoryRow[];
}

export interface Run {
  readonly id: string;
  readonly token: number;
}

export interface Evidence {
  /** Ids whose add was answered. */
  readonly acked: Iterable<string>;
  /** Ids whose add was never answered: they may exist or not. */
  readonly unanswered?: Iterable<string>;
  /** All jobs of the store. */
  readonly histories: readonly JobHistory[];
  /** Starts of handlers, from their own ledger. Without them I6 and I18 are not checked. */
  readonly runs?: readonly Run[];
  /** Completions that the store accepted, as reported by workers. */
  readonly accepted?: readonly Run[];
}

export interface Verdict {
  readonly problems: readonly string[];
  readonly jobs: number;
  readonly done: number;
  /** Jobs that have not ended. */
  readonly left: number;
  /** Attempts after the first. */
  readonly reruns: number;
  readonly takeovers: number;
  /** Settlements that came too late and were kept in the history. */
  readonly fencedLate: number;
}

/** More problems add nothing to the report. */
const MAX_PROBLEMS = 20;

export function checkHistory(evidence: Evidence): Verdict {
  const { histories } = evidence;
  const problems = [
    ...checkPresence(evidence),
    ...histories.flatMap(checkJob),
    ...checkRuns(evidence),
    ...checkAccepted(evidence.accepted ?? [], histories),
  ];
  const rows = histories.flatMap((history) => history.rows);
  return {
    problems:
      problems.length > MAX_PROBLEMS ? [`${problems.length} problems`, ...problems.slice(0, MAX_PROBLEMS)] : problems,
    jobs: histories.length,
    done: histories.filter(({ job }) => job.state === 'done').length,
    left: histories.filter(({ job }) => !isEnded(job.state)).length,
    reruns: rows.filter((row) => row.event === 'claimed' && row.attempt > 1).length,
    takeovers: rows.filter((row) => row.event === 'lost').length,
    fencedLate: rows.filter((row) => row.event === 'late').length,
  };
}

function checkPresence({ acked, unanswered = [], histories }: Evidence): readonly string[] {
  const present = new Set(histories.map(({ job }) => job.id));
  const asked = new Set([...acked, ...unanswered]);
  const lost = [...acked].filter((id) => !present.has(id)).map((id) => `I1 lost: ${id}`);
  const unexpected = [...present].filter((id) => !asked.has(id)).map((id) => `I2 unexpected: ${id}`);
  const twice = histories.length === present.size ? [] : ['I2 unexpected: the store lists a job twice'];
  return [...lost, ...unexpected, ...twice];
}

function checkJob({ job, rows }: JobHistory): readonly string[] {
  const replayed = replayHistory(rows);
  const problems = replayed.problems.map((problem) => `${nameOf(problem)}: ${job.id}: ${problem}`);
  const holder = job.lease?.token ?? null;
  return [
    ...problems,
    ...acceptedTwice(job.id, rows),
    ...(job.state === replayed.state ? [] : [`I14: ${job.id} is ${job.state}, its history ${replayed.state}`]),
    ...(job.attempt === replayed.attempt
      ? []
      : [`I14: ${job.id} has ${job.attempt} attempts, its history ${replayed.attempt}`]),
    ...(holder === null || holder === replayed.token
      ? []
      : [`I5: ${job.id} is held by ${holder}, not ${replayed.token}`]),
  ];
}

function nameOf(problem: string): string {
  if (problem.includes('given out after')) return 'I4';
  return problem.includes('was accepted under') ? 'I5' : 'I14';
}

/** Reports more than one completion without an operator's requeue between them. */
function acceptedTwice(id: string, rows: readonly HistoryRow[]): readonly string[] {
  let open = 0;
  let most = 0;
  for (const { event } of rows) {
    if (event === 'requeued' || event === 'advanced') open = 0;
    if (event === 'completed' || event === 'forwarded') open += 1;
    most = Math.max(most, open);
  }
  return most > 1 ? [`I3 acceptedTwice: ${id}`] : [];
}

/** I6: no job is done without a run of a handler. I18: every run of a handler is in the history, with its end. */
function checkRuns({ runs, histories }: Evidence): readonly string[] {
  if (runs === undefined) return [];
  const started = new Set(runs.map(keyOf));
  const neverStarted = histories.flatMap(({ job, rows }) =>
    rows
      .filter(
        (row) =>
          row.event === 'completed' && row.token !== null && !started.has(keyOf({ id: job.id, token: row.token })),
      )
      .map((row) => `I6 doneNeverStarted: ${job.id} under token ${row.token}`),
  );
  const rowsOf = new Map(histories.map(({ job, rows }) => [job.id, rows]));
  const unaccounted = runs.filter((run) => !isAccountedFor(run, rowsOf.get(run.id) ?? []));
  return [
    ...neverStarted,
    ...unaccounted.map(({ id, token }) => `I18 unaccounted: a run of ${id} under token ${token}`),
  ];
}

const NOT_AN_END: ReadonlySet<string> = new Set(['claimed', 'late', 'cancel-asked']);

function isAccountedFor({ token }: Run, rows: readonly HistoryRow[]): boolean {
  const own = rows.filter((row) => row.token === token);
  return own.some(({ event }) => event === 'claimed') && own.some(({ event }) => !NOT_AN_END.has(event));
}

/** Accepted completions must be in the history, and only one per job. */
function checkAccepted(accepted: readonly Run[], histories: readonly JobHistory[]): readonly string[] {
  const rowsOf = new Map(histories.map(({ job, rows }) => [job.id, rows]));
  const tokens = new Map<string, Set<number>>();
  for (const { id, token } of accepted) tokens.set(id, (tokens.get(id) ?? new Set()).add(token));
  return [...tokens].flatMap(([id, known]) => {
    const completed = (rowsOf.get(id) ?? []).filter(({ event }) => event === 'completed').map(({ token }) => token);
    const unknown = [...known].filter((token) => !completed.includes(token));
    return [
      ...(known.size > 1 && completed.length < 2 ? [`I3 acceptedTwice: ${id}, reported by its workers`] : []),
      ...unknown.map((token) => `I5: ${id} was accepted under token ${token}, which is not in its history`),
    ];
  });
}

const keyOf = ({ id, token }: Run): string => `${id} ${token}`;
