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

/** The log of an attempt has a gap that it does not name, or lacks lines although the attempt was completed. */
export const checkLogLines: Check = (evidence) =>
  [...attemptsOf(evidence.entries)].flatMap(([name, own]): Finding[] => {
    const all = evidence.logs.get(name);
    // A log that names its gap keeps its promise.
    if (all === undefined || all.some((line) => line.startsWith(MARKER))) return [];
    const wrong = isDiskHit(own, evidence) ? firstUnordered(all) : all.findIndex((line, at) => line !== `line ${at}`);
    if (wrong >= 0) return [{ check: 'log lines', text: `${name}: line ${wrong} of the log is "${all[wrong]}"` }];
    const written = own.filter(({ type }) => type === 'line').length;
    if (all.length >= written || mayLackLines(own, evidence)) return [];
    return [{ check: 'log lines', text: `${name}: the log has ${all.length} of ${written} lines` }];
  });

/** A worker waits this long for the last lines of an attempt; then it emits `trouble`, and they are lost. */
const LAST_LINES_MS = 6_000;

/**
 * Logs are not synced line by line: a power cut takes what the system had not written yet. Linux writes a page that has been
 * dirty for 30 s, and looks every 5 s; on a busy machine it is later.
 */
const UNSYNCED_MS = 45_000;

/** A disk that failed may have taken lines, or left zeros in their place. The others are in order. */
function firstUnordered(lines: readonly string[]): number {
  let last = -1;
  return lines.findIndex((line) => {
    if (line.replaceAll('\0', '') === '') return false;
    const [, number] = /^line (\d+)$/.exec(line) ?? [];
    const isInOrder = number !== undefined && Number(number) > last;
    last = Number(number);
    return !isInOrder;
  });
}

/** An attempt without a lease cannot write, and a killed process writes nothing more. */
function mayLackLines(own: readonly LedgerEntry[], evidence: Evidence): boolean {
  const rows = evidence.jobs.find(({ job }) => job.id === own[0]?.id)?.rows ?? [];
  const isCompleted = rows.some(({ event, token }) => event === 'completed' && token === own[0]?.token);
  const { killedAt } = processFaults(evidence);
  return (
    !isCompleted || own.some(({ pid }) => killedAt.has(pid)) || isReported(own, evidence) || isDiskHit(own, evidence)
  );
}

/** The worker said that the last lines of this job are lost. A log that it gave up earlier breaks its promise. */
function isReported(own: readonly LedgerEntry[], { entries }: Evidence): boolean {
  const [from, to] = [own[0]?.at ?? 0, (own.at(-1)?.at ?? 0) + LAST_LINES_MS];
  return entries.some(
    ({ type, pid, at, what, error = '' }) =>
      type === 'trouble' &&
      pid === own[0]?.pid &&
      what === `the log of job ${own[0]?.id}` &&
      error.includes('bytes of its log are lost') &&
      at > from &&
      at < to,
  );
}

/** A script writes to the disk itself and repeats nothing; a worker repeats what a failing disk refused. */
function isDiskHit(own: readonly LedgerEntry[], { entries, faults }: Evidence): boolean {
  const [from, to] = [own[0]?.at ?? 0, own.at(-1)?.at ?? 0];
  const isHandler = entries.some(({ type, pid }) => type === 'ready' && pid === own[0]?.pid);
  return faults.some((fault) => {
    if (fault.effect === 'power') return fault.from < to + UNSYNCED_MS && fault.to > from;
    return fault.effect === 'disk' && !isHandler && fault.from < to && fault.to > from;
  });
}

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
const RUNNING: readonly Effect[] = ['disk', 'power'];
/** A process that cannot reach its store does not start; its supervisor starts it again. */
const STARTING: readonly Effect[] = ['disk', 'power', 'store', 'network'];

function isExcused({ at, child }: LedgerEntry, { faults }: Evidence): boolean {
  const effects = child === 0 ? STARTING : RUNNING;
  return faults.some(({ effect, from, to }) => effects.includes(effect) && from <= at && to + EXIT_MS > at);
}
