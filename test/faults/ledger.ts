/**
 * Reads the ledgers that the processes of a fault test write (test/fixtures/ledger.mjs): which handlers ran, when and in
 * which process, and the answers that producers and workers got.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LedgerEntry {
  /** The machine's monotonic clock, in ms. */
  readonly at: number;
  readonly pid: number;
  readonly type: string;
  readonly id?: string;
  readonly token?: number;
  readonly attempt?: number;
  readonly worker?: string;
  readonly code?: string;
  readonly error?: string;
  /** What a worker could not do. */
  readonly what?: string;
  readonly reason?: string;
  readonly kind?: string;
  readonly answer?: string;
  readonly outcome?: string;
  readonly line?: number;
  /** How long the handler will run. */
  readonly ms?: number;
  readonly queue?: string;
  readonly step?: string;
  /** A new value of a setting, and when it was confirmed at the latest. */
  readonly value?: number;
  readonly until?: number;
  /** The process of which the entry reports. */
  readonly child?: number;
}

/** One run of a handler, from its first ledger entry to its last. */
export interface HandlerRun {
  readonly id: string;
  readonly token: number;
  readonly attempt: number;
  readonly pid: number;
  readonly startedAt: number;
  readonly lastAt: number;
  /** `open`: it has no end, because its process was killed. */
  readonly outcome: 'end' | 'aborted' | 'failed' | 'open';
  readonly abortReason: string | null;
  /** Whether its process stopped itself before the end. */
  readonly hasFrozen: boolean;
}

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Returns all entries of a folder by time. A line that a kill cut off is ignored. */
export function readLedger(folder: string): readonly LedgerEntry[] {
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const entries = texts.flatMap((text) => text.split('\n').flatMap(parseEntry));
  return entries.sort((a, b) => a.at - b.at);
}

function parseEntry(line: string): readonly LedgerEntry[] {
  if (line === '') return [];
  try {
    return [JSON.parse(line) as LedgerEntry];
  } catch {
    return [];
  }
}

export function runsOf(entries: readonly LedgerEntry[]): readonly HandlerRun[] {
  const runs = new Map<string, HandlerRun>();
  for (const entry of entries) {
    const { id, token, attempt, at, pid } = entry;
    if (id === undefined || token === undefined || attempt === undefined) continue;
    const key = `${id} ${token} ${pid}`;
    const known = runs.get(key);
    if (known !== undefined) runs.set(key, { ...known, ...seen(known, entry) });
    else runs.set(key, { ...fresh, id, token, attempt, pid, startedAt: at, lastAt: at });
  }
  return [...runs.values()];
}

const fresh = { outcome: 'open', abortReason: null, hasFrozen: false } as const;

function seen(run: HandlerRun, { type, at, reason }: LedgerEntry): Partial<HandlerRun> {
  if (type === 'aborted') return { lastAt: at, outcome: 'aborted', abortReason: reason ?? null };
  const outcome = run.outcome === 'aborted' ? 'aborted' : 'failed';
  // The answer to a call that the run waited for since its last entry: it was over before.
  if (type === 'refused') return { outcome };
  if (type === 'failed') return { lastAt: at, outcome };
  if (type === 'end') return { lastAt: at, outcome: 'end' };
  return { lastAt: at, hasFrozen: run.hasFrozen || type === 'frozen' };
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** When processes were killed, and when they were stopped. In a long run, several processes have the same pid. */
export interface InjectedFaults {
  readonly killedAt: ReadonlyMap<number, readonly number[]>;
  readonly stopped: ReadonlyMap<number, readonly Interval[]>;
}

export const NO_FAULTS: InjectedFaults = { killedAt: new Map(), stopped: new Map() };

/** Returns the longest time that two runs of one job overlap. Runs of stopped processes are ignored: they cannot react. */
export function longestOverlapMs(runs: readonly HandlerRun[], faults: InjectedFaults = NO_FAULTS): number {
  const byJob = new Map<string, HandlerRun[]>();
  for (const run of runs) {
    if (!wasStopped(run, faults)) byJob.set(run.id, [...(byJob.get(run.id) ?? []), run]);
  }
  let longest = 0;
  for (const copies of byJob.values()) {
    const sorted = copies
      .map((run) => ({ from: run.startedAt, to: endOf(run, faults) }))
      .sort((a, b) => a.from - b.from);
    for (const [place, run] of sorted.entries()) {
      for (const later of sorted.slice(place + 1)) longest = Math.max(longest, Math.min(run.to, later.to) - later.from);
    }
  }
  return longest;
}

/** A run without an end lasted until its process was killed. */
export function endOf(run: HandlerRun, faults: InjectedFaults): number {
  return run.outcome === 'open' ? (killOf(run, faults) ?? run.lastAt) : run.lastAt;
}

/** A kill is recorded before it happens. */
const KILL_MS = 500;

/** Returns when the process of a run was killed: the first time after the run began that its pid was. */
export function killOf({ pid, startedAt }: HandlerRun, { killedAt }: InjectedFaults): number | undefined {
  return killedAt.get(pid)?.find((at) => at + KILL_MS > startedAt);
}

/** True also for a process that was killed before its next entry. */
export function wasStopped(run: HandlerRun, faults: InjectedFaults): boolean {
  if (run.hasFrozen) return true;
  return (faults.stopped.get(run.pid) ?? []).some(({ from, to }) => from < endOf(run, faults) && to > run.startedAt);
}
