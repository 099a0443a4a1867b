/**
 * Reads jobs as the scripts answer them. lua/lib/base.lua describes a record; this is its other half.
 *
 * Invariant: data whose checksum does not fit is never handed out; it throws `data-corrupt`.
 */
import { crc32 } from 'node:zlib';
import { hexWord } from '../../../core/input/hex.ts';
import type { Failure, Job, JobPolicy, JobState, Lease, Parents, Progress, UniqueKey } from '../../../core/job/job.ts';
import { NO_SLOTS } from '../../../core/job/job.ts';
import type { StepSums, Suspension } from '../../../core/job/step.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { FIELD, PART, PLACES, unescapeText } from './layout.ts';

type Fields = Record<string, string | undefined>;

/** Texts that stand apart, by their letter in the field `apart`. */
const APART: Readonly<Record<string, string>> = { r: 'result', v: 'checkpoint', t: 'detail' };

const CHECKSUM_LENGTH = 8;
export const checksum = (data: string): string => hexWord(crc32(data));

export interface ReadJobs {
  readonly jobs: Job[];
  /** Those whose data is not what was added. */
  readonly damaged: Job[];
}

/** The jobs of an answer from a place on: id, record, and the texts that stand apart, job after job. */
export function readJobs(answer: readonly string[], from: number): Job[] {
  const { jobs, damaged } = readAnyJobs(answer, from);
  const [first] = damaged;
  if (first === undefined) return jobs;
  throw new LonghaulError(
    'data-corrupt',
    `the data of job ${first.id} is not what was added: its checksum does not fit`,
  );
}

/** The same for a claim, which must not keep back the sound ones. The data of a damaged one is left out. */
export function readAnyJobs(answer: readonly string[], from: number): ReadJobs {
  const read: ReadJobs = { jobs: [], damaged: [] };
  for (let at = from; at < answer.length; ) {
    const [id = '', record = ''] = [answer[at], answer[at + 1]];
    const fields = fieldsOf(record);
    const letters = fields['apart'] ?? '';
    at += 2;
    for (const letter of letters) fields[APART[letter] ?? 'data'] = answer[at++] ?? '';
    const data = soundData(fields['data'] ?? '');
    if (data === null) read.damaged.push(readSoundJob(id, record, { ...fields, data: '' }));
    else {
      fields['data'] = data;
      read.jobs.push(readSoundJob(id, record, fields));
    }
  }
  return read;
}

/** What a record says of itself by name, and its data with the checksum before it. */
export function fieldsOf(record: string): Fields {
  const fields: Fields = {};
  const dataAt = record.indexOf(`${FIELD}:`);
  const rowsAt = record.indexOf(`${FIELD}+`);
  const headEnd = rowsAt < 0 ? dataAt : rowsAt;
  for (let at = record.indexOf(FIELD); at < headEnd; ) {
    const next = record.indexOf(FIELD, at + 1);
    const equals = record.indexOf('=', at);
    fields[record.slice(at + 1, equals)] = record.slice(equals + 1, next);
    at = next;
  }
  fields['data'] = record.slice(dataAt + 2);
  return fields;
}

/** Throws `data-corrupt` for a record whose fields cannot be read. */
function readSoundJob(id: string, record: string, fields: Fields): Job {
  try {
    return readJob(id, record, fields);
  } catch (cause) {
    throw new LonghaulError('data-corrupt', `the record of job ${id} is damaged: ${(cause as Error).message}`, {
      cause,
    });
  }
}

// Long because it is the whole record, field by field.
function readJob(id: string, record: string, fields: Fields): Job {
  const head = record.slice(1, record.indexOf(FIELD));
  const [first, second] = [head.indexOf(' '), head.indexOf(' ', head.indexOf(' ') + 1)];
  const createdAt = numberIn(head.slice(first + 1, second));
  return {
    id,
    queue: head.slice(second + 1),
    name: textOf(fields['name']),
    data: fields['data'] ?? '',
    state: stateOf(record.charAt(0)),
    priority: numberOf(fields['priority']),
    tags: fields['tags'] === undefined ? [] : fields['tags'].split(PART).map(unescapeText),
    policy: fields['policy'] === undefined ? {} : (JSON.parse(unescapeText(fields['policy'])) as JobPolicy),
    unique: fields['unique'] === undefined ? null : uniqueOf(fields['unique']),
    parents: fields['parents'] === undefined ? null : parentsOf(fields['parents']),
    dependents: numberOf(fields['dependents']),
    createdAt,
    seq: numberIn(head.slice(0, first)),
    runAt: fields['runAt'] === undefined ? createdAt : numberIn(fields['runAt']),
    delayMs: timeOf(fields['delayMs']),
    freedAt: timeOf(fields['freedAt']),
    returnedAt: timeOf(fields['returnedAt']),
    turn: numberOf(fields['turn']),
    coalesceKey: textOf(fields['equal']),
    foldedInto: fields['into'] ?? null,
    folded: numberOf(fields['folded']),
    slots: fields['slots'] === undefined ? NO_SLOTS : fields['slots'].split(PART).map(unescapeText),
    steps: fields['steps'] === undefined ? null : stepSumsOf(fields['steps']),
    suspension: fields['suspended'] === undefined ? null : suspensionOf(fields['suspended']),
    attempt: numberOf(fields['attempt']),
    failures: numberOf(fields['failures']),
    resends: numberOf(fields['resends']),
    crashes: numberOf(fields['crashes']),
    interruptions: numberOf(fields['interruptions']),
    lease: fields['lease'] === undefined ? null : leaseOf(fields['lease'], fields),
    progress: fields['progress'] === undefined ? null : progressOf(fields['progress']),
    checkpoint: textOf(fields['checkpoint']),
    result: textOf(fields['result']),
    failure: failureOf(fields),
    forwardedTo: textOf(fields['forwardedTo']),
    endedAt: timeOf(fields['endedAt']),
  };
}

/** The data after its checksum; null when they do not fit. */
function soundData(stored: string): string | null {
  const data = unescapeText(stored.slice(CHECKSUM_LENGTH));
  return checksum(data) === stored.slice(0, CHECKSUM_LENGTH) ? data : null;
}

/** Throws `data-corrupt` for a text that is no number. */
export function numberIn(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number))
    throw new LonghaulError(
      'data-corrupt',
      `a stored record is damaged: ${JSON.stringify(text.slice(0, 60))} is no number`,
    );
  return number;
}

const numberOf = (value: string | undefined): number => (value === undefined ? 0 : numberIn(value));
export const timeOf = (value: string | undefined): number | null => (value === undefined ? null : numberIn(value));
export const textOf = (value: string | undefined): string | null => (value === undefined ? null : unescapeText(value));
const orNull = (word: string): number | null => (word === '-' ? null : numberIn(word));
export const stateOf = (place: string): JobState => PLACES[place] ?? 'draft';

function uniqueOf(value: string): UniqueKey {
  const [scope = '', until = '', periodMs = '', ...key] = value.split(' ');
  return {
    key: unescapeText(key.join(' ')),
    scope: scope as UniqueKey['scope'],
    until: until as UniqueKey['until'],
    periodMs: numberIn(periodMs),
  };
}

function parentsOf(value: string): Parents {
  const [of = 0, open = 0, bad = 0] = value.split(' ').map(numberIn);
  return { of, open, bad };
}

function stepSumsOf(value: string): StepSums {
  const [count = 0, bytes = 0] = value.split(' ').map(numberIn);
  return { count, bytes };
}

/** The event comes last: it may contain spaces. */
function suspensionOf(value: string): Suspension {
  const [ranMs = '', until = '', ...event] = value.split(' ');
  return { until: orNull(until), event: event.length === 0 ? null : event.join(' '), ranMs: numberIn(ranMs) };
}

/** The worker comes last: it may contain spaces. */
function leaseOf(value: string, fields: Fields): Lease {
  const [token = '', ms = '', until = '', claimedAt = '', ...worker] = value.split(' ');
  return {
    token: numberIn(token),
    worker: unescapeText(worker.join(' ')),
    ms: numberIn(ms),
    until: numberIn(until),
    claimedAt: numberIn(claimedAt),
    startedAt: timeOf(fields['startedAt']),
    pid: timeOf(fields['pid']),
    cancelAskedAt: timeOf(fields['cancelAskedAt']),
    pauseAskedAt: timeOf(fields['pauseAskedAt']),
  };
}

function progressOf(value: string): Progress {
  const [figures = '', text] = value.split(PART);
  const [percent = '', at = ''] = figures.split(' ');
  return { percent: orNull(percent), text: textOf(text), at: numberIn(at) };
}

function failureOf(fields: Fields): Failure | null {
  const { group, message, detail } = fields;
  if (group === undefined) return null;
  return { group: unescapeText(group), message: unescapeText(message ?? ''), detail: textOf(detail) };
}
