/**
 * Packs the arguments and answers of the hot calls into as few objects as possible for messages between threads: the cost
 * of a copy depends on keys and objects more than on bytes.
 *
 * Invariant: unpacking what was packed gives an equal argument or answer. Values that are not plain are sent unpacked.
 */
import type { Failure, Job } from '../../../core/job/job.ts';
import { isPlain } from '../../../core/lifecycle/lifecycle.ts';
import type {
  AddResult,
  ClaimResult,
  NewJob,
  Settlement,
  SettleResult,
  StoreEvent,
} from '../../../core/ports/job-store.ts';
import type { JobRow } from '../tables/job-row.ts';
import { readJob, rowOf } from '../tables/job-row.ts';
import type { PackedRequest, Request, RequestName } from './messages.ts';

export function packArgument(name: RequestName, argument: unknown): unknown {
  if (name === 'add') return packJobs(argument as readonly NewJob[]);
  return name === 'settle' ? packSettlements(argument as readonly Settlement[]) : argument;
}

/** Reads by place: V8 takes long to compile a list pattern, and this runs for every call. */
export function unpackRequest(packed: PackedRequest): Request {
  const name = packed[1];
  const argument = unpackArgument(name, packed[2]);
  return { id: packed[0], name, argument, now: packed[3], sync: packed[4], waitMs: packed[5] };
}

export function unpackArgument(name: RequestName, packed: unknown): unknown {
  if (name === 'add') return unpackJobs(packed as PackedJobs | readonly NewJob[]);
  return name === 'settle' ? unpackSettlements(packed as PackedSettlements | readonly Settlement[]) : packed;
}

export function packAnswer(name: RequestName, answer: unknown): unknown {
  if (name === 'claim') return packClaim(answer as ClaimResult);
  if (name === 'settle' && (answer as readonly SettleResult[]).every(isDone)) return 'done';
  return name === 'add' && (answer as readonly AddResult[]).every(isAdded) ? 'added' : answer;
}

/** `argument`: the argument of the answered call. */
export function unpackAnswer(name: RequestName, packed: unknown, argument: unknown): unknown {
  if (name === 'claim') return unpackClaim(packed as PackedClaim);
  if (name === 'settle' && packed === 'done') return each(argument as readonly Settlement[], done);
  return name === 'add' && packed === 'added' ? each(argument as readonly NewJob[], added) : packed;
}

/** The queue, then id and data of each job. */
type PackedJobs = readonly [queue: string, ...idsAndData: string[]];

function packJobs(jobs: readonly NewJob[]): PackedJobs | readonly NewJob[] {
  const queue = jobs[0]?.queue;
  if (typeof queue !== 'string') return jobs;
  const packed: [string, ...string[]] = [queue];
  for (const job of jobs) {
    if (job.queue !== queue || !isPlain(job)) return jobs;
    packed.push(job.id, job.data);
  }
  return packed;
}

function unpackJobs(packed: PackedJobs | readonly NewJob[]): readonly NewJob[] {
  const [queue] = packed;
  if (typeof queue !== 'string') return packed as readonly NewJob[];
  const jobs: NewJob[] = [];
  for (let at = 1; at < packed.length; at += 2)
    jobs.push({ id: packed[at] as string, queue, data: packed[at + 1] as string });
  return jobs;
}

/** Id, token and result of each settlement; all are completions. */
type PackedSettlements = readonly (string | number | undefined)[];

function packSettlements(settlements: readonly Settlement[]): PackedSettlements | readonly Settlement[] {
  const packed: (string | number | undefined)[] = [];
  for (const settlement of settlements) {
    const { id, token, kind } = settlement;
    if (kind !== 'complete' || typeof id !== 'string') return sharingFailures(settlements);
    if (settlement.data !== undefined || settlement.next !== undefined) return settlements;
    packed.push(id, token, settlement.result);
  }
  return packed;
}

/** Makes equal failures that follow one another one object, which is copied once and shared by their jobs. */
function sharingFailures(settlements: readonly Settlement[]): readonly Settlement[] {
  let last: Failure | null = null;
  return settlements.map((settlement) => {
    if (settlement.kind !== 'fail' && settlement.kind !== 'retry') return settlement;
    const { failure } = settlement;
    if (last !== null && isEqual(last, failure)) return { ...settlement, failure: last };
    last = failure;
    return settlement;
  });
}

const isEqual = (a: Failure, b: Failure): boolean =>
  a.group === b.group && a.message === b.message && a.detail === b.detail;

function unpackSettlements(packed: PackedSettlements | readonly Settlement[]): readonly Settlement[] {
  if (typeof packed[0] !== 'string') return packed as readonly Settlement[];
  const settlements: Settlement[] = [];
  for (let at = 0; at < packed.length; at += 3) {
    const id = packed[at] as string;
    const token = packed[at + 1] as number;
    const result = packed[at + 2] as string | undefined;
    // Not a copy with a further property (docs/decisions/0035-what-v8-compiles.md).
    if (result === undefined) settlements.push({ id, token, kind: 'complete' });
    else settlements.push({ id, token, kind: 'complete', result });
  }
  return settlements;
}

type PackedClaim = readonly [now: number, nextAt: number | null, ...jobs: JobRow[]];

function packClaim({ jobs, now, nextAt }: ClaimResult): PackedClaim {
  const packed: [number, number | null, ...JobRow[]] = [now, nextAt];
  for (const job of jobs) packed.push(rowOf(job));
  return packed;
}

function unpackClaim(packed: PackedClaim): ClaimResult {
  const jobs: Job[] = [];
  for (let at = 2; at < packed.length; at += 1) jobs.push(readJob(packed[at] as JobRow));
  return { jobs, now: packed[0], nextAt: packed[1] };
}

function isDone(answer: SettleResult): boolean {
  return answer.ok && answer.state === 'done';
}

function done(): SettleResult {
  return { ok: true, state: 'done' };
}

function isAdded(answer: AddResult): boolean {
  return answer.ok && answer.outcome === 'added' && answer.state === 'waiting';
}

function added({ id, queue }: NewJob): AddResult {
  return { ok: true, outcome: 'added', id, queue, state: 'waiting' };
}

/** Consecutive events that differ only in the job are grouped. */
export type PackedEvents = readonly [
  type: StoreEvent['type'],
  queue: string,
  state: StoreEvent['state'],
  ...ids: string[],
];

export function packEvents(events: readonly StoreEvent[]): readonly PackedEvents[] {
  const packed: [StoreEvent['type'], string, StoreEvent['state'], ...string[]][] = [];
  for (const { type, id, queue, state } of events) {
    const last = packed.at(-1);
    if (last !== undefined && last[0] === type && last[1] === queue && last[2] === state) last.push(id);
    else packed.push([type, queue, state, id]);
  }
  return packed;
}

export function unpackEvents(packed: readonly PackedEvents[]): readonly StoreEvent[] {
  return packed.flatMap(([type, queue, state, ...ids]) => ids.map((id): StoreEvent => ({ type, id, queue, state })));
}

/** As `map`, which returns lists of another kind once it is compiled (docs/decisions/0035-what-v8-compiles.md). */
function each<From, To>(list: readonly From[], make: (from: From) => To): readonly To[] {
  const made: To[] = [];
  for (const from of list) made.push(make(from));
  return made;
}
