/** Checks of what is kept beside jobs: counts and statistics, log lines, and processes. Pure. */
import type { LedgerEntry } from '../../faults/ledger.ts';
import { type Check, type Effect, type Evidence, type Finding, processFaults, type StateCounts } from './evidence.ts';

/** The counts of a queue differ from its jobs, or its statistics from the completions in the histories. */
export const checkStatistics: Check = (evidence) => {
  const queues = new Set([...evidence.counts.keys(), ...evidence.jobs.map(({ job }) => job.queue)]);
  return [...queues].flatMap((queue) => [...wrongCounts(evidence, queue), ...wrongCompletions(evidence, queue)]);
};

function wrongCounts({ counts, jobs }: Evidence, queue: string): readonly Finding[] {
  const own = jobs.filter(({ job }) => job.queue === queue);
  const counted = counts.get(queue);
  const states = Object.keys(counted ?? { waiting: 0 }) as (keyof StateCounts)[];
  return states.flatMap((state): Finding[] => {
    const found = own.filter(({ job }) => job.state === state).length;
    if (counted?.[state] === found) return [];
    return [{ check: 'statistics', text: `${queue} counts ${counted?.[state]} ${state} jobs, and has ${found}` }];
  });
}

/** The statistics of a deleted queue include jobs that are gone. */
function wrongCompletions({ completions, jobs, entries }: Evidence, queue: string): readonly Finding[] {
  if (entries.some((entry) => entry.type === 'queue-deleted' && entry.queue === queue)) return [];
  const rows = jobs.filter(({ job }) => job.queue === queue).flatMap((stored) => stored.rows);
  const found = rows.filter(({ event }) => event === 'completed').length;
  const counted = completions.get(queue) ?? 0;
  if (counted === found) return [];
  return [
    { check: 'statistics', text: `${queue} has ${counted} completions in its statistics, ${found} in its histories` },
  ];
}

/** How a line of Longhaul's own begins, such as one that names a gap. */
const MARKER = '[longhaul: ';

/** The log of an attempt has a gap, or lacks lines of a run that ended in a process that lived. */
export const checkLogLines: Check = (evidence) => {
  const { killedAt } = processFaults(evidence);
  const disks = evidence.faults.filter(({ effect }) => effect === 'disk');
  return [...attemptsOf(evidence.entries)].flatMap(([name, own]): Finding[] => {
    const all = evidence.logs.get(name);
    if (all === undefined) return [];
    const logged = all.filter((line) => !line.startsWith(MARKER));
    // A log that names its gap keeps its promise.
    if (logged.length < all.length) return [];
    const wrong = logged.findIndex((line, place) => line !== `line ${place}`);
    if (wrong >= 0) return [{ check: 'log lines', text: `${name}: line ${wrong} of the log is "${logged[wrong]}"` }];
    const isWhole = own.some(({ type }) => type === 'end') && !own.some(({ pid }) => killedAt.has(pid));
    const last = own.at(-1)?.at ?? 0;
    if (!isWhole || disks.some(({ from, to }) => from < last && to > (own[0]?.at ?? 0))) return [];
    const written = own.filter(({ type }) => type === 'line').length;
    if (logged.length >= written) return [];
    return [{ check: 'log lines', text: `${name}: the log has ${logged.length} of ${written} lines` }];
  });
};

function attemptsOf(entries: readonly LedgerEntry[]): ReadonlyMap<string, LedgerEntry[]> {
  const attempts = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    if (entry.type !== 'line' && entry.type !== 'end') continue;
    const name = `${entry.id} ${entry.attempt}`;
    const known = attempts.get(name);
    if (known === undefined) attempts.set(name, [entry]);
    else known.push(entry);
  }
  return attempts;
}

/** A process was left, ended by itself although its disk worked, or did not start although nothing was in its way. */
export const checkProcesses: Check = (evidence) => {
  const left = evidence.processesLeft.map((process) => `left at the end: ${process}`);
  const ended = evidence.entries
    .filter((entry) => entry.type === 'exited' && !isExcused(entry, evidence))
    .map(({ child, error, at }) => `process ${child} ended by itself at ${Math.round(at)}: ${error}`);
  return [...left, ...ended].map((text) => ({ check: 'processes', text }));
};

/** A process that an error of its disk ended may take this time to end. */
const EXIT_MS = 10_000;
const RUNNING: readonly Effect[] = ['disk'];
/** A process that cannot reach its store does not start; its supervisor starts it again. */
const STARTING: readonly Effect[] = ['disk', 'store', 'network'];

function isExcused({ at, child }: LedgerEntry, { faults }: Evidence): boolean {
  const effects = child === 0 ? STARTING : RUNNING;
  return faults.some(({ effect, from, to }) => effects.includes(effect) && from <= at && to + EXIT_MS > at);
}
