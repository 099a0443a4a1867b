/**
 * The environment of a fault test: a store, real producer and worker processes, a folder for their ledgers, and the
 * verdict at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Job } from '../../src/core/job/job.ts';
import type { QueueCounts } from '../../src/core/ports/job-store.ts';
import {
  type ConnectOptions,
  connect,
  type Longhaul,
  type SettingsInput,
  type WorkOptions,
} from '../../src/library/index.ts';
import { type Fixture, startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { checkHistory, type JobHistory, type Verdict } from './check-history.ts';
import { type HandlerRun, type LedgerEntry, readLedger, runsOf } from './ledger.ts';
import type { SeededRandom } from './seeded-random.ts';

export const QUEUE = 'work';

export interface FaultEnvironmentOptions {
  readonly address: string;
  readonly connect?: ConnectOptions;
  readonly settings?: SettingsInput;
}

export interface WorkerPlan {
  readonly work?: Omit<WorkOptions, 'onEvent'>;
  readonly queues?: readonly string[];
  /** Another address of the same store, through a proxy. */
  readonly address?: string;
  /** Claims nothing until it is sent `{ resume: true }`. */
  readonly isPaused?: boolean;
  /** Whether it reports the start of each run on stdout too. */
  readonly reportsStarts?: boolean;
  /** The module of an isolated handler, in test/fixtures. Default: a handler in the process of the worker. */
  readonly module?: string;
}

export interface Findings {
  readonly verdict: Verdict;
  readonly entries: readonly LedgerEntry[];
  readonly runs: readonly HandlerRun[];
  readonly histories: readonly { readonly job: Job; readonly rows: readonly HistoryRow[] }[];
}

/** Keeps all jobs, and never fails a job for too many crashes: the tests count them. */
const KEEP_ALL: SettingsInput = {
  retention: { done: { count: null }, failed: { count: null } },
  maxCrashes: 1_000_000,
};
const POLL_EVERY_MS = 25;
/** At full size dozens of processes start at once. */
const READY_MS = testSize({ small: 20_000, full: 180_000 });
const HISTORIES_PER_PAGE = 500;

export async function openFaultEnvironment(options: FaultEnvironmentOptions): Promise<FaultEnvironment> {
  const longhaul = await connect(options.address, options.connect);
  const environment = new FaultEnvironment(options, longhaul);
  onTestFinished(() => environment.close());
  await longhaul.queue(QUEUE).configure({ ...KEEP_ALL, ...options.settings });
  return environment;
}

/** A folder for a SQLite store, deleted after the test. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-faults-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class FaultEnvironment {
  readonly longhaul: Longhaul;
  readonly #options: FaultEnvironmentOptions;
  /** The folder of the ledgers. */
  readonly ledger = aFolder();
  readonly #fixtures = new Set<Fixture>();
  readonly #acked = new Set<string>();

  constructor(options: FaultEnvironmentOptions, longhaul: Longhaul) {
    this.#options = options;
    this.longhaul = longhaul;
  }

  /** Adds a job from the test's own process. */
  async add(id: string, data: object = {}): Promise<void> {
    await this.longhaul.queue(QUEUE).add(data, { id });
    this.#acked.add(id);
  }

  /** Resolves when the worker claims jobs. */
  async startWorker(plan: WorkerPlan = {}): Promise<Fixture> {
    const worker = await this.#start('ledger-worker.mjs', { queues: [QUEUE], ...plan });
    await worker.next(({ type }) => type === 'ready', READY_MS);
    return worker;
  }

  startWorkers(count: number, plan: WorkerPlan = {}): Promise<readonly Fixture[]> {
    return Promise.all(Array.from({ length: count }, () => this.startWorker(plan)));
  }

  /** Resolves when the producer is ready; it begins with the next line of its stdin. */
  async startAdder(plan: Readonly<Record<string, unknown>>): Promise<Fixture> {
    const adder = await this.#start('producer.mjs', { queue: QUEUE, ...plan });
    await adder.next(({ type }) => type === 'ready', READY_MS);
    return adder;
  }

  async #start(file: string, plan: object): Promise<Fixture> {
    const { address, connect: given } = this.#options;
    const whole = { address, connect: given ?? {}, ledger: this.ledger, ...plan };
    const fixture = await startFixture(file, [JSON.stringify(whole)]);
    this.#fixtures.add(fixture);
    return fixture;
  }

  count(): Promise<QueueCounts> {
    return this.longhaul.queue(QUEUE).count();
  }

  /** Waits until no job waits or runs, even if the store is still unavailable at first. */
  async drained(deadlineMs: number): Promise<QueueCounts> {
    let last: unknown = null;
    const what = (): string => `the queue is empty; last counts: ${JSON.stringify(last)}`;
    return until(what, deadlineMs, async () => {
      const counts = await this.count().catch((error: unknown) => void (last = String(error)));
      if (counts === undefined) return null;
      last = counts;
      return counts.waiting + counts.running === 0 ? counts : null;
    });
  }

  /** Closes the processes and waits for their end. Killed ones have ended already. */
  async closeProcesses(): Promise<void> {
    await Promise.all(
      [...this.#fixtures].map(async (fixture) => {
        fixture.send({});
        await fixture.ended;
        this.#fixtures.delete(fixture);
      }),
    );
  }

  ledgerEntries(): readonly LedgerEntry[] {
    return readLedger(this.ledger);
  }

  /** The verdict and its evidence, after all processes have ended. */
  async findings(): Promise<Findings> {
    const [entries, histories] = [this.ledgerEntries(), await this.#histories()];
    const runs = runsOf(entries);
    const isOk = ({ type, kind, answer }: LedgerEntry) => type === 'answered' && kind === 'complete' && answer === 'ok';
    const verdict = checkHistory({
      acked: [...this.#acked, ...entries.filter(({ type }) => type === 'acked').map(({ id = '' }) => id)],
      unanswered: entries.filter(({ type }) => type === 'asked').map(({ id = '' }) => id),
      histories,
      runs,
      accepted: entries.filter(isOk).map(({ id = '', token = 0 }) => ({ id, token })),
    });
    await this.#checkCounts(histories);
    return { verdict, entries, runs, histories };
  }

  /** Expects the store's counts to equal the number of its jobs. */
  async #checkCounts(histories: readonly JobHistory[]): Promise<void> {
    const counts = await this.count();
    const found = (state: Job['state']) => histories.filter(({ job }) => job.state === state).length;
    const states = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
    expect(counts).toMatchObject(Object.fromEntries(states.map((state) => [state, found(state)])));
  }

  async #histories(): Promise<Findings['histories']> {
    const { jobs } = this.longhaul.store;
    const histories: { job: Job; rows: readonly HistoryRow[] }[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await jobs.list({
        queue: QUEUE,
        order: 'newest',
        limit: HISTORIES_PER_PAGE,
        ...(after && { after }),
      });
      const rows = await Promise.all(page.jobs.map(({ id }) => jobs.history(id)));
      page.jobs.forEach((job, place) => histories.push({ job, rows: rows[place] ?? [] }));
      after = page.next;
    }
    return histories;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#fixtures].map((fixture) => fixture.kill9()));
    await this.longhaul.close();
  }
}

/** Polls until the result is not null. */
export async function until<T>(
  what: string | (() => string),
  deadlineMs: number,
  poll: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const result = await poll();
    if (result !== null) return result;
    if (performance.now() > deadline)
      throw new Error(`not in ${deadlineMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(POLL_EVERY_MS);
  }
}

/** Returns the counts of a verdict for the line of figures. */
export function figuresOf({ problems, ...counts }: Verdict): Readonly<Record<string, number>> {
  return { ...counts, problems: problems.length };
}

/** Prints the seed before a run begins, so that a run that hangs can be repeated too. */
export function printSeed(title: string, { seed }: SeededRandom): void {
  process.stdout.write(`\nseed: ${title}: ${seed}\n`);
}

/** Prints one line per test, for the test report. */
export function printFigures(title: string, figures: Readonly<Record<string, string | number>>): void {
  const parts = Object.entries(figures).map(([name, value]) => {
    const shown = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : String(value);
    return `${name}=${shown}`;
  });
  process.stdout.write(`\nfigures: ${title}: ${parts.join(' ')}\n`);
}
