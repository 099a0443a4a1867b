/**
 * Workers and their isolated processes are killed with -9 at random, while jobs write to their logs. Nothing is lost,
 * nothing completes twice, no process is left, and the logs are complete up to the kill.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Fixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { type FaultEnvironment, figuresOf, printFigures, printSeed, until } from './fault-environment.ts';
import { type LedgerEntry, monotonicMs } from './ledger.ts';
import { openRandom, type SeededRandom } from './seeded-random.ts';

export const LEASE_MS = 1_000;
const JOBS = testSize({ small: 30, full: 500 });
const FAULTS_MS = testSize({ small: 2_500, full: 180_000 });
/** At the small size a job ends before the next kill: one that crashes twice would wait for ten seconds. */
const LONGEST_JOB_MS = 400;
/** A job that is killed would have run for this long at least. */
const REMAINING_MS = 50;
const SHORTEST_PAUSE_MS = testSize({ small: 600, full: 300 });
const WORKERS = 2;
/** Jobs that crash repeatedly wait longer each time. */
const DRAIN_MS = testSize({ small: 60_000, full: 300_000 });
export const ISOLATED_KILLS_MS = FAULTS_MS + DRAIN_MS + 60_000;
const PLAN = { module: './handlers/ledger.mjs', work: { concurrency: 3, isolate: 'process' } } as const;
/**
 * A killed worker may have read output that it had not yet written to the log. Turns of its event loop, 25 ms apart, are
 * counted instead of milliseconds: on a busy machine the worker may not run at all for a while.
 */
const UNWRITTEN_TURNS = 10;
const GONE_MS = 10_000;
const BUSY_MS = 2_000;

export async function surviveIsolatedKills(environment: FaultEnvironment, store: string, home: string): Promise<void> {
  const random = openRandom();
  printSeed(`killed isolated processes, ${store}`, random);
  const killed = { workers: new Set<number>(), processes: new Set<number>() };
  const workers = new Set(await environment.startWorkers(WORKERS, PLAN));
  await Promise.all([addJobs(environment, random), killAtRandom(environment, { random, workers, killed })]);
  await environment.drained(DRAIN_MS);
  await environment.closeProcesses();

  const { verdict, entries } = await environment.findings();
  const left = await processesLeft(environment.ledger);
  const logs = checkLogs(entries, home, killed);
  printFigures(`killed isolated processes, ${store}`, {
    seed: random.seed,
    ...figuresOf(verdict),
    killedWorkers: killed.workers.size,
    killedProcesses: killed.processes.size,
    attempts: logs.attempts,
    lines: logs.lines,
    unwrittenTurns: logs.unwrittenTurns,
    processesLeft: left.length,
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: JOBS, jobs: JOBS });
  expect(logs.problems).toEqual([]);
  expect(logs.unwrittenTurns).toBeLessThanOrEqual(UNWRITTEN_TURNS);
  expect(left).toEqual([]);
  // Without these events the test proves nothing.
  expect(Math.min(killed.workers.size, killed.processes.size, verdict.takeovers)).toBeGreaterThan(0);
}

async function addJobs(environment: FaultEnvironment, random: SeededRandom): Promise<void> {
  for (let job = 0; job < JOBS; job += 1) {
    await environment.add(`j${job}`, {
      ms: Math.round(random.between(20, LONGEST_JOB_MS)),
      starts: random.next() < 0.3,
    });
    await sleep((FAULTS_MS / JOBS) * 0.9);
  }
}

interface Killing {
  readonly random: SeededRandom;
  readonly workers: Set<Fixture>;
  readonly killed: Killed;
}

interface Killed {
  /** Process ids. */
  readonly workers: Set<number>;
  readonly processes: Set<number>;
}

async function killAtRandom(environment: FaultEnvironment, { random, workers, killed }: Killing): Promise<void> {
  const endAt = monotonicMs() + FAULTS_MS;
  // One of each kind at least, also at the small size.
  for (let kills = 0; monotonicMs() < endAt || kills < 2; kills += 1) {
    await sleep(random.between(SHORTEST_PAUSE_MS, 900));
    const isWorker = kills < 2 ? kills === 1 : random.next() < 0.4;
    const running = await runningJob(environment, random);
    if (running === null) continue;
    const pid = isWorker ? running.worker : running.pid;
    (isWorker ? killed.workers : killed.processes).add(pid);
    process.kill(pid, 'SIGKILL');
    if (!isWorker) continue;
    for (const worker of workers) if (worker.pid === pid) workers.delete(worker);
    workers.add(await environment.startWorker(PLAN));
  }
}

interface RunningJob {
  readonly pid: number;
  readonly worker: number;
}

/** Returns a job that runs now and will not end by itself before it is killed, if there is one soon. */
function runningJob(environment: FaultEnvironment, random: SeededRandom): Promise<RunningJob | null> {
  const find = () => {
    const found = runningJobs(environment.ledgerEntries());
    return found.length === 0 ? null : random.pick(found);
  };
  return until('a process runs a job', BUSY_MS, find).catch(() => null);
}

function runningJobs(entries: readonly LedgerEntry[]): readonly RunningJob[] {
  const running = new Map<number, RunningJob>();
  for (const { type, pid, worker, at, ms = 0 } of entries) {
    if (type === 'start' && at + ms > monotonicMs() + REMAINING_MS) running.set(pid, { pid, worker: Number(worker) });
    if (type === 'end' || type === 'aborted') running.delete(pid);
  }
  return [...running.values()].filter(
    ({ pid, worker }) =>
      commandOf(pid).includes('handler-process.js') && commandOf(worker).includes('ledger-worker.mjs'),
  );
}

interface LogFindings {
  readonly problems: readonly string[];
  readonly attempts: number;
  readonly lines: number;
  /** How often the event loop of a killed worker turned after the first line that is missing was written. */
  readonly unwrittenTurns: number;
}

/** Compares the log of every attempt with the lines that its handler had written, by its ledger. */
function checkLogs(entries: readonly LedgerEntry[], home: string, { workers }: Killed): LogFindings {
  const problems: string[] = [];
  const attempts = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    if (entry.type !== 'start' && entry.type !== 'line') continue;
    const name = `${entry.id} ${entry.attempt}`;
    attempts.set(name, [...(attempts.get(name) ?? []), entry]);
  }
  let [lines, unwrittenTurns] = [0, 0];
  for (const [name, own] of attempts) {
    const [id = '', attempt = ''] = name.split(' ');
    const logged = readLines(join(home, 'jobs', id, 'attempts', attempt, 'log'));
    lines += logged.length;
    if (logged.some((line, place) => line !== `line ${place}`)) problems.push(`${name}: the log has a gap`);
    const missing = own.find(({ line = -1 }) => line >= logged.length);
    if (missing === undefined) continue;
    const pid = Number(own.find(({ type }) => type === 'start')?.worker);
    if (!workers.has(pid)) problems.push(`${name}: line ${missing.line} of ${own.length - 1} is missing`);
    const turns = entries.filter((entry) => entry.type === 'turn' && entry.pid === pid && entry.at > missing.at);
    unwrittenTurns = Math.max(unwrittenTurns, turns.length);
  }
  return { problems, attempts: attempts.size, lines, unwrittenTurns };
}

/** Returns the whole lines of a log; a kill may cut the last one. */
function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

/** Returns the processes of this test that are left after a while: all of them have its ledger in their environment. */
function processesLeft(ledger: string): Promise<readonly string[]> {
  const find = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && hasLedger(pid, ledger));
  return until(
    () =>
      `no process is left of ${find()
        .map((pid) => `${pid} ${commandOf(Number(pid))}`)
        .join()}`,
    GONE_MS,
    () => (find().length === 0 ? [] : null),
  );
}

function hasLedger(pid: string, ledger: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`LONGHAUL_TEST_LEDGER=${ledger}`);
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
