/**
 * The verdict over a run: from what producers, handlers and the store say, which promise was broken, if any.
 *
 * Pure. The names (I1 …) are those of the reliability promises. What must never happen is a `problem`; what must have
 * happened, so that a good verdict means anything, is counted.
 */
import type { HistoryRow } from '../../src/core/job/history.ts';
import { isEnded, type Job } from '../../src/core/job/job.ts';
import { foldHistory } from './replay-history.ts';

export interface JobStory {
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
  /** Ids whose add was never answered: they may be there or not. */
  readonly unanswered?: Iterable<string>;
  /** Everything the store has. */
  readonly stories: readonly JobStory[];
  /** Starts of handlers, as they wrote them down themselves. Without them I6 and I18 are not looked at. */
  readonly runs?: readonly Run[];
  /** Completions that workers were told were accepted. */
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
  /** Words that came too late and were kept. */
  readonly fencedLate: number;
}

/** The first problems tell the story; thousands of the same kind do not tell it better. */
const MOST_PROBLEMS = 20;

export function checkHistory(evidence: Evidence): Verdict {
  const { stories } = evidence;
  const problems = [
    ...checkPresence(evidence),
    ...stories.flatMap(checkStory),
    ...checkRuns(evidence),
    ...checkAccepted(evidence.accepted ?? [], stories),
  ];
  const rows = stories.flatMap((story) => story.rows);
  return {
    problems:
      problems.length > MOST_PROBLEMS ? [`${problems.length} problems`, ...problems.slice(0, MOST_PROBLEMS)] : problems,
    jobs: stories.length,
    done: stories.filter(({ job }) => job.state === 'done').length,
    left: stories.filter(({ job }) => !isEnded(job.state)).length,
    reruns: rows.filter((row) => row.event === 'claimed' && row.attempt > 1).length,
    takeovers: rows.filter((row) => row.event === 'lost').length,
    fencedLate: rows.filter((row) => row.event === 'late').length,
  };
}

function checkPresence({ acked, unanswered = [], stories }: Evidence): readonly string[] {
  const there = new Set(stories.map(({ job }) => job.id));
  const asked = new Set([...acked, ...unanswered]);
  const lost = [...acked].filter((id) => !there.has(id)).map((id) => `I1 lost: ${id}`);
  const unexpected = [...there].filter((id) => !asked.has(id)).map((id) => `I2 unexpected: ${id}`);
  const twice = stories.length === there.size ? [] : ['I2 unexpected: the store lists a job twice'];
  return [...lost, ...unexpected, ...twice];
}

function checkStory({ job, rows }: JobStory): readonly string[] {
  const folded = foldHistory(rows);
  const problems = folded.problems.map((words) => `${nameOf(words)}: ${job.id}: ${words}`);
  const holder = job.lease?.token ?? null;
  return [
    ...problems,
    ...acceptedTwice(job.id, rows),
    ...(job.state === folded.state ? [] : [`I14: ${job.id} is ${job.state}, but its history says ${folded.state}`]),
    ...(job.attempt === folded.attempt
      ? []
      : [`I14: ${job.id} has ${job.attempt} attempts, its history ${folded.attempt}`]),
    ...(holder === null || holder === folded.token ? [] : [`I5: ${job.id} is held by ${holder}, not ${folded.token}`]),
  ];
}

function nameOf(words: string): string {
  if (words.includes('given out after')) return 'I4';
  return words.includes('was accepted under') ? 'I5' : 'I14';
}

/** More than one completion, without an operator's requeue between them. */
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

/** I6: nothing is done that no handler began. I18: every run of a handler is known to the store, with its end. */
function checkRuns({ runs, stories }: Evidence): readonly string[] {
  if (runs === undefined) return [];
  const began = new Set(runs.map(keyOf));
  const neverBegan = stories.flatMap(({ job, rows }) =>
    rows
      .filter(
        (row) => row.event === 'completed' && row.token !== null && !began.has(keyOf({ id: job.id, token: row.token })),
      )
      .map((row) => `I6 doneNeverStarted: ${job.id} under token ${row.token}`),
  );
  const rowsOf = new Map(stories.map(({ job, rows }) => [job.id, rows]));
  const unaccounted = runs.filter((run) => !isAccountedFor(run, rowsOf.get(run.id) ?? []));
  return [...neverBegan, ...unaccounted.map(({ id, token }) => `I18 unaccounted: a run of ${id} under token ${token}`)];
}

const NO_ENDINGS: ReadonlySet<string> = new Set(['claimed', 'late', 'cancel-asked']);

function isAccountedFor({ token }: Run, rows: readonly HistoryRow[]): boolean {
  const own = rows.filter((row) => row.token === token);
  return own.some(({ event }) => event === 'claimed') && own.some(({ event }) => !NO_ENDINGS.has(event));
}

/** What workers were told must be what the history says, and only one of them may have been told so of a job. */
function checkAccepted(accepted: readonly Run[], stories: readonly JobStory[]): readonly string[] {
  const rowsOf = new Map(stories.map(({ job, rows }) => [job.id, rows]));
  const tokens = new Map<string, Set<number>>();
  for (const { id, token } of accepted) tokens.set(id, (tokens.get(id) ?? new Set()).add(token));
  return [...tokens].flatMap(([id, known]) => {
    const completed = (rowsOf.get(id) ?? []).filter(({ event }) => event === 'completed').map(({ token }) => token);
    const strange = [...known].filter((token) => !completed.includes(token));
    return [
      ...(known.size > 1 && completed.length < 2 ? [`I3 acceptedTwice: ${id}, as its workers were told`] : []),
      ...strange.map((token) => `I5: ${id} was accepted under token ${token}, which its history does not know`),
    ];
  });
}

const keyOf = ({ id, token }: Run): string => `${id} ${token}`;
