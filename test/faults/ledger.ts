/**
 * Reads what the processes of a proof wrote down of themselves (test/fixtures/proof-witness.mjs): which handlers ran,
 * when, as which process, and what producers and workers were answered.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mark {
  /** The machine's monotonic clock, in ms. */
  readonly at: number;
  readonly pid: number;
  readonly mark: string;
  readonly id?: string;
  readonly token?: number;
  readonly attempt?: number;
  readonly worker?: string;
  readonly code?: string;
  readonly error?: string;
  readonly reason?: string;
  readonly kind?: string;
  readonly answer?: string;
  readonly outcome?: string;
}

/** One run of a handler, from its first mark to its last sign of life. */
export interface HandlerRun {
  readonly id: string;
  readonly token: number;
  readonly attempt: number;
  readonly pid: number;
  readonly startedAt: number;
  readonly lastAt: number;
  /** `open`: it never said how it ended, because its process was killed. */
  readonly ending: 'end' | 'aborted' | 'open';
  readonly abortReason: string | null;
  /** Its process stopped itself before the end. */
  readonly hasFrozen: boolean;
}

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** All marks of a folder by time. A line that a kill cut off is left out. */
export function readMarks(folder: string): readonly Mark[] {
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const marks = texts.flatMap((text) => text.split('\n').flatMap(parseMark));
  return marks.sort((a, b) => a.at - b.at);
}

function parseMark(line: string): readonly Mark[] {
  if (line === '') return [];
  try {
    return [JSON.parse(line) as Mark];
  } catch {
    return [];
  }
}

export function runsOf(marks: readonly Mark[]): readonly HandlerRun[] {
  const runs = new Map<string, HandlerRun>();
  for (const mark of marks) {
    const { id, token, attempt, at, pid } = mark;
    if (id === undefined || token === undefined || attempt === undefined) continue;
    const key = `${id} ${token} ${pid}`;
    const known = runs.get(key);
    if (known !== undefined) runs.set(key, { ...known, ...seen(known, mark) });
    else runs.set(key, { ...fresh, id, token, attempt, pid, startedAt: at, lastAt: at });
  }
  return [...runs.values()];
}

const fresh = { ending: 'open', abortReason: null, hasFrozen: false } as const;

function seen(run: HandlerRun, { mark, at, reason }: Mark): Partial<HandlerRun> {
  if (mark === 'aborted') return { lastAt: at, ending: 'aborted', abortReason: reason ?? null };
  if (mark === 'end') return { lastAt: at, ending: 'end' };
  return { lastAt: at, hasFrozen: run.hasFrozen || mark === 'frozen' };
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** What somebody did to processes from outside: when each was killed, and when it stood still. */
export interface Harm {
  readonly killedAt: ReadonlyMap<number, number>;
  readonly stopped: ReadonlyMap<number, readonly Interval[]>;
}

export const NO_HARM: Harm = { killedAt: new Map(), stopped: new Map() };

/** The longest time that two copies of one job ran at once. Processes that stood still could not know, and are left out. */
export function longestOverlapMs(runs: readonly HandlerRun[], harm: Harm = NO_HARM): number {
  const byJob = new Map<string, HandlerRun[]>();
  for (const run of runs) {
    if (!hasStoodStill(run, harm)) byJob.set(run.id, [...(byJob.get(run.id) ?? []), run]);
  }
  let longest = 0;
  for (const copies of byJob.values()) {
    const sorted = copies.map((run) => ({ from: run.startedAt, to: endOf(run, harm) })).sort((a, b) => a.from - b.from);
    for (const [place, run] of sorted.entries()) {
      for (const later of sorted.slice(place + 1)) longest = Math.max(longest, Math.min(run.to, later.to) - later.from);
    }
  }
  return longest;
}

/** A run without an end went on until its process was killed. */
function endOf(run: HandlerRun, { killedAt }: Harm): number {
  return run.ending === 'open' ? (killedAt.get(run.pid) ?? run.lastAt) : run.lastAt;
}

/** Also one that was killed before it could give a sign of life again. */
function hasStoodStill(run: HandlerRun, harm: Harm): boolean {
  if (run.hasFrozen) return true;
  return (harm.stopped.get(run.pid) ?? []).some(({ from, to }) => from < endOf(run, harm) && to > run.startedAt);
}
