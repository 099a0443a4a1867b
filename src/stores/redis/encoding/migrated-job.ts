/**
 * A job that moved here, as the scripts keep it: job-record.ts and job-history.ts the other way round, for jobs that are
 * not running. Whatever a record gains, it gains here too; a test writes and reads a job with everything in it.
 */
import type { HistoryRow } from '../../../core/job/history.ts';
import type { Job } from '../../../core/job/job.ts';
import { isBlocked } from '../../../core/job/job.ts';
import type { Suspension } from '../../../core/job/step.ts';
import type { MigratedEdge, MigratedJob } from '../../../core/ports/migration.ts';
import { newJobFields } from '../calls/add-request.ts';
import { readHistory } from './job-history.ts';
import { checksum, fieldsOf, readJobs } from './job-record.ts';
import { EVENT_LETTERS, escapeText, FIELD, INLINE_LIMIT, PART, PLACES } from './layout.ts';
import { field, textField } from './request-encoding.ts';
import { readStepsText, stepsText } from './step-record.ts';

/** The arguments of lua/operations/migration-write.lua for one job. */
export function movedJobArguments({ job, history, steps, parents, holds }: MigratedJob): string[] {
  const apart = apartOf(job);
  const letters = [...apart.keys()].join('');
  const data = apart.has('d') ? '' : checksum(job.data) + escapeText(job.data);
  const rows = history.slice(1).map((row) => rowText(row, job.createdAt));
  const head = headOf(job) + fieldsText(job, history, apart) + field('apart', letters === '' ? undefined : letters);
  const record = `${head}${field('rows', rows.length || undefined)}${rows.join('')}${FIELD}:${data}`;
  const edges = parents.map(({ seq, isOpen }) => `${seq}${isOpen ? '+' : '-'}`).join(' ');
  const until = holds === null ? '' : String(holds.until ?? '-');
  return [job.id, record, String(apart.size), ...apart.values(), edges, until, stepsText(steps)];
}

/** Letters of the record's first places, by state. Those that wait stand in the sorted sets: a fifo is for new ones. */
function placeOf(job: Job): string {
  if (job.state === 'waiting') return isBlocked(job) ? 'b' : 'w';
  return stateLetter(job.state);
}

function stateLetter(state: Job['state']): string {
  if (state === 'waiting') return 'w';
  return Object.entries(PLACES).find(([, each]) => each === state)?.[0] ?? 'p';
}

function headOf(job: Job): string {
  return `${placeOf(job)}${job.seq} ${job.createdAt} ${job.queue}${field('attempt', job.attempt || undefined)}`;
}

/** Texts too long for the record, by letter. */
function apartOf(job: Job): ReadonlyMap<string, string> {
  const texts = { d: job.data, r: job.result, v: job.checkpoint, t: job.failure?.detail ?? null };
  const long = Object.entries(texts).filter(([, text]) => text !== null && text.length > INLINE_LIMIT);
  return new Map(
    long.map(([letter, text]) => [letter, (letter === 'd' ? checksum(text ?? '') : '') + escapeText(text ?? '')]),
  );
}

function fieldsText(job: Job, history: readonly HistoryRow[], apart: ReadonlyMap<string, string>): string {
  const { id, queue, name, priority, tags, policy, unique, runAt, createdAt } = job;
  const hasPolicy = Object.keys(policy).length > 0;
  const added = newJobFields({
    id,
    queue,
    data: '',
    ...(name !== null && { name }),
    ...(priority !== 0 && { priority }),
    ...(runAt !== createdAt && { runAt }),
    ...(tags.length > 0 && { tags }),
    ...(hasPolicy && { policy }),
    ...(unique !== null && { unique }),
    ...(history[0]?.state === 'draft' && { draft: true }),
  });
  return added + lifeFields(job) + endFields(job, apart);
}

const counted = (name: string, value: number): string => field(name, value === 0 ? undefined : value);
const timed = (name: string, value: number | null): string => field(name, value ?? undefined);

function lifeFields(job: Job): string {
  const { parents, progress } = job;
  const shown = progress && `${progress.percent ?? '-'} ${progress.at}`;
  const text = progress === null || progress.text === null ? '' : `${PART}${escapeText(progress.text)}`;
  return (
    field('parents', parents === null ? undefined : `${parents.of} ${parents.open} ${parents.bad}`) +
    counted('dependents', job.dependents) +
    timed('delayMs', job.delayMs) +
    timed('freedAt', job.freedAt) +
    timed('returnedAt', job.returnedAt) +
    counted('turn', job.turn) +
    textField('equal', job.coalesceKey ?? undefined) +
    field('into', job.foldedInto ?? undefined) +
    counted('folded', job.folded) +
    field('steps', job.steps === null ? undefined : `${job.steps.count} ${job.steps.bytes}`) +
    field('suspended', job.suspension === null ? undefined : suspensionText(job.suspension)) +
    counted('failures', job.failures) +
    counted('resends', job.resends) +
    counted('crashes', job.crashes) +
    counted('interruptions', job.interruptions) +
    field('progress', shown === null ? undefined : shown + text)
  );
}

/** The event comes last: it may contain spaces. */
function suspensionText({ until, event, ranMs }: Suspension): string {
  return `${ranMs} ${until ?? '-'}${event === null ? '' : ` ${event}`}`;
}

function endFields(job: Job, apart: ReadonlyMap<string, string>): string {
  const { failure } = job;
  const text = (letter: string, name: string, value: string | null | undefined) =>
    value === null || value === undefined ? '' : textField(name, apart.has(letter) ? '' : value);
  return (
    text('v', 'checkpoint', job.checkpoint) +
    text('r', 'result', job.result) +
    textField('group', failure?.group) +
    textField('message', failure?.message) +
    text('t', 'detail', failure?.detail) +
    textField('forwardedTo', job.forwardedTo ?? undefined) +
    timed('endedAt', job.endedAt)
  );
}

/** As life.remember writes one. */
function rowText({ at, event, state, attempt, token, by, note }: HistoryRow, createdAt: number): string {
  const head = `${FIELD}+${EVENT_LETTERS[event]}${stateLetter(state)}${at - createdAt} ${attempt}`;
  const who = by === null ? '' : `${PART}b${escapeText(by)}`;
  return `${head}${token === null ? '' : ` ${token}`}${who}${note === null ? '' : `${PART}n${escapeText(note)}`}`;
}

/** What lua/reads/migration-read.lua answers for jobs: the seq to go on from, and the jobs. */
export function readMovedJobs(answer: readonly string[]): {
  readonly last: string;
  readonly jobs: readonly MigratedJob[];
} {
  const count = Number(answer[1]);
  const [ties, from] = [answer.slice(2, 2 + count), 2 + count];
  const records = recordsIn(answer, from);
  const jobs = readJobs(answer, from).map((job, place): MigratedJob => {
    const [edges = '', until = '', ...steps] = (ties[place] ?? '').split(FIELD);
    const history = readHistory(records[place] ?? '');
    const holds = until === '' ? null : { until: untilOf(until) };
    return { job, history, steps: readStepsText(steps), parents: readEdges(edges), holds };
  });
  return { last: answer[0] ?? '', jobs };
}

const untilOf = (text: string): number | null => (text === '-' ? null : Number(text));

function readEdges(text: string): readonly MigratedEdge[] {
  const edges = text.split(' ').filter((each) => each !== '');
  const read = edges.map((each) => ({ seq: Number(each.slice(0, -1)), isOpen: each.endsWith('+') }));
  return read.sort((a, b) => a.seq - b.seq);
}

/** The records themselves, between ids and texts that stand apart. */
function recordsIn(answer: readonly string[], from: number): readonly string[] {
  const records: string[] = [];
  for (let at = from; at < answer.length; ) {
    const record = answer[at + 1] ?? '';
    records.push(record);
    at += 2 + (fieldsOf(record)['apart'] ?? '').length;
  }
  return records;
}
