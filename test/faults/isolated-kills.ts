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
const LONGEST_JOB_MS = testSize({ small: 150, full: 400 });
const SHORTEST_PAUSE_MS = testSize({ small: 600, full: 300 });
const WORKERS = 2;
/** Jobs that crash repeatedly wait longer each time. */
const DRAIN_MS = testSize({ small: 60_000, full: 300_000 });
export const ISOLATED_KILLS_MS = FAULTS_MS + DRAIN_MS + 60_000;
const PLAN = { module: './handlers/ledger.mjs', work: { concurrency: 3, isolate: 'process' } } as const;
/** A killed worker may have read output that it had not yet written to the log. */
const UNWRITTEN_MS = 250;
const GONE_MS = 10_000;
const BUSY_MS = 2_000;

export async function surviveIsolatedKills(environment: FaultEnvironment, store: string, home: string): Promise<void> {
  const random = openRandom();
  printSeed(`killed isolated processes, ${store}`, random);
  const killed = { workers: new Map<number, number>(), processes: new Map<number, number>() };
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
    unwrittenMs: logs.unwrittenMs,
    processesLeft: left.length,
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: JOBS, jobs: JOBS });
  expect(logs.problems).toEqual([]);
  expect(logs.unwrittenMs).toBeLessThanOrEqual(UNWRITTEN_MS);
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
  /** By pid, the time of the kill. */
  readonly workers: Map<number, number>;
  readonly processes: Map<number, number>;
}

async function killAtRandom(environment: FaultEnvironment, { random, workers, killed }: Killing): Promise<void> {
  const endAt = monotonicMs() + FAULTS_MS;
  // One of each kind at least, also at the small size.
  for (let kills = 0; monotonicMs() < endAt || kills < 2; kills += 1) {
    await sleep(random.between(SHORTEST_PAUSE_MS, 900));
    const isWorker = kills < 2 ? kills === 1 : random.next() < 0.4;
    if (!isWorker) await killProcess(environment, random, killed.processes);
    else {
      const worker = random.pick([...workers]);
      workers.delete(worker);
      killed.workers.set(worker.pid, monotonicMs());
      void worker.kill9();
      workers.add(await environment.startWorker(PLAN));
    }
  }
}

/** Kills a process that runs a job now, if there is one soon. */
async function killProcess(
  environment: FaultEnvironment,
  random: SeededRandom,
  killed: Map<number, number>,
): Promise<void> {
  const running = await until('a process runs a job', BUSY_MS, () => {
    const found = busyProcesses(environment.ledgerEntries()).filter((pid) => !killed.has(pid));
    return found.length === 0 ? null : found;
  }).catch(() => []);
  if (running.length === 0) return;
  const pid = random.pick(running);
  killed.set(pid, monotonicMs());
  process.kill(pid, 'SIGKILL');
}

function busyProcesses(entries: readonly LedgerEntry[]): number[] {
  const busy = new Set<number>();
  for (const { type, pid } of entries) {
    if (type === 'start') busy.add(pid);
    if (type === 'end' || type === 'aborted') busy.delete(pid);
  }
  return [...busy].filter((pid) => commandOf(pid).includes('handler-process.js'));
}

interface LogFindings {
  readonly problems: readonly string[];
  readonly attempts: number;
  readonly lines: number;
  /** How long before the kill of its worker the first line that is missing was written. */
  readonly unwrittenMs: number;
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
  let [lines, unwrittenMs] = [0, 0];
  for (const [name, own] of attempts) {
    const [id = '', attempt = ''] = name.split(' ');
    const logged = readLines(join(home, 'jobs', id, 'attempts', attempt, 'log'));
    lines += logged.length;
    if (logged.some((line, place) => line !== `line ${place}`)) problems.push(`${name}: the log has a gap`);
    const missing = own.find(({ line = -1 }) => line >= logged.length);
    if (missing === undefined) continue;
    const killedAt = workers.get(Number(own.find(({ type }) => type === 'start')?.worker));
    if (killedAt === undefined) problems.push(`${name}: line ${missing.line} of ${own.length - 1} is missing`);
    else unwrittenMs = Math.max(unwrittenMs, killedAt - missing.at);
  }
  return { problems, attempts: attempts.size, lines, unwrittenMs };
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
