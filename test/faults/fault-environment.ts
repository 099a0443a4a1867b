/**
 * Where a proof takes place: a store that real processes add to and work on, a folder for what they ledger, and the
 * verdict over it all at the end.
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
import { checkHistory, type JobStory, type Verdict } from './check-history.ts';
import { type HandlerRun, type Mark, readMarks, runsOf } from './ledger.ts';
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
  /** Another way to the same store: through a proxy. */
  readonly address?: string;
  /** Claims nothing until it is sent `{ resume: true }`. */
  readonly isPaused?: boolean;
  /** Says the start of each run on stdout too. */
  readonly isTelling?: boolean;
}

export interface Findings {
  readonly verdict: Verdict;
  readonly marks: readonly Mark[];
  readonly runs: readonly HandlerRun[];
  readonly stories: readonly { readonly job: Job; readonly rows: readonly HistoryRow[] }[];
}

/** Nothing is forgotten, and nothing is given up for having been killed too often: that is what is counted here. */
const KEEP_ALL: SettingsInput = {
  retention: { done: { count: null }, failed: { count: null } },
  maxCrashes: 1_000_000,
};
const LOOK_EVERY_MS = 25;
/** At full size dozens of processes start at once. */
const READY_MS = testSize({ small: 20_000, full: 180_000 });
const STORIES_AT_ONCE = 500;

export async function openFaultEnvironment(options: FaultEnvironmentOptions): Promise<FaultEnvironment> {
  const longhaul = await connect(options.address, options.connect);
  const environment = new FaultEnvironment(options, longhaul);
  onTestFinished(() => environment.close());
  await longhaul.queue(QUEUE).configure({ ...KEEP_ALL, ...options.settings });
  return environment;
}

/** A folder for a SQLite store, gone after the test. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-proof-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class FaultEnvironment {
  readonly longhaul: Longhaul;
  readonly #options: FaultEnvironmentOptions;
  readonly #ledger = aFolder();
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

  /** Resolved when it claims jobs. */
  async startWorker(plan: WorkerPlan = {}): Promise<Fixture> {
    const worker = await this.#start('proof-worker.mjs', { queues: [QUEUE], ...plan });
    await worker.next(({ type }) => type === 'ready', READY_MS);
    return worker;
  }

  startWorkers(count: number, plan: WorkerPlan = {}): Promise<readonly Fixture[]> {
    return Promise.all(Array.from({ length: count }, () => this.startWorker(plan)));
  }

  /** Resolved when it is ready to add; it begins with the next line. */
  async startAdder(plan: Readonly<Record<string, unknown>>): Promise<Fixture> {
    const adder = await this.#start('proof-adder.mjs', { queue: QUEUE, ...plan });
    await adder.next(({ type }) => type === 'ready', READY_MS);
    return adder;
  }

  async #start(file: string, plan: object): Promise<Fixture> {
    const { address, connect: given } = this.#options;
    const whole = { address, connect: given ?? {}, ledger: this.#ledger, ...plan };
    const fixture = await startFixture(file, [JSON.stringify(whole)]);
    this.#fixtures.add(fixture);
    return fixture;
  }

  count(): Promise<QueueCounts> {
    return this.longhaul.queue(QUEUE).count();
  }

  /** Waits until no job waits or runs any more, also when the store comes back only now. */
  async drained(deadlineMs: number): Promise<QueueCounts> {
    let seen: unknown = null;
    const what = (): string => `the queue is empty; seen last: ${JSON.stringify(seen)}`;
    return until(what, deadlineMs, async () => {
      const counts = await this.count().catch((error: unknown) => void (seen = String(error)));
      if (counts === undefined) return null;
      seen = counts;
      return counts.waiting + counts.running === 0 ? counts : null;
    });
  }

  /** Asks the processes to close, and waits until they have. Those that were killed are gone already. */
  async closeProcesses(): Promise<void> {
    await Promise.all(
      [...this.#fixtures].map(async (fixture) => {
        fixture.send({});
        await fixture.ended;
        this.#fixtures.delete(fixture);
      }),
    );
  }

  marks(): readonly Mark[] {
    return readMarks(this.#ledger);
  }

  /** Everything that can be said once all is over. */
  async findings(): Promise<Findings> {
    const [marks, stories] = [this.marks(), await this.#stories()];
    const runs = runsOf(marks);
    const isOk = ({ mark, kind, answer }: Mark) => mark === 'answered' && kind === 'complete' && answer === 'ok';
    const verdict = checkHistory({
      acked: [...this.#acked, ...marks.filter(({ mark }) => mark === 'acked').map(({ id = '' }) => id)],
      unanswered: marks.filter(({ mark }) => mark === 'asked').map(({ id = '' }) => id),
      stories,
      runs,
      accepted: marks.filter(isOk).map(({ id = '', token = 0 }) => ({ id, token })),
    });
    await this.#agree(stories);
    return { verdict, marks, runs, stories };
  }

  /** The store's own counts are those of its jobs. */
  async #agree(stories: readonly JobStory[]): Promise<void> {
    const counts = await this.count();
    const found = (state: Job['state']) => stories.filter(({ job }) => job.state === state).length;
    const states = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
    expect(counts).toMatchObject(Object.fromEntries(states.map((state) => [state, found(state)])));
  }

  async #stories(): Promise<Findings['stories']> {
    const { jobs } = this.longhaul.store;
    const stories: { job: Job; rows: readonly HistoryRow[] }[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await jobs.list({ queue: QUEUE, order: 'newest', limit: STORIES_AT_ONCE, ...(after && { after }) });
      const histories = await Promise.all(page.jobs.map(({ id }) => jobs.history(id)));
      page.jobs.forEach((job, place) => stories.push({ job, rows: histories[place] ?? [] }));
      after = page.next;
    }
    return stories;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#fixtures].map((fixture) => fixture.kill9()));
    await this.longhaul.close();
  }
}

/** Looks until there is something to see. */
export async function until<T>(
  what: string | (() => string),
  deadlineMs: number,
  look: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    if (performance.now() > deadline)
      throw new Error(`not in ${deadlineMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** The counts of a verdict, for the line of figures. */
export function figuresOf({ problems, ...counts }: Verdict): Readonly<Record<string, number>> {
  return { ...counts, problems: problems.length };
}

/** Said before a run begins, so that one which never ends can be had again too. */
export function printSeed(proof: string, { seed }: SeededRandom): void {
  process.stdout.write(`\nseed: ${proof}: ${seed}\n`);
}

/** One line a proof, so that a run can be read at a glance and kept in a document. */
export function printFigures(proof: string, figures: Readonly<Record<string, string | number>>): void {
  const words = Object.entries(figures).map(([name, value]) => {
    const shown = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : String(value);
    return `${name}=${shown}`;
  });
  process.stdout.write(`\nfigures: ${proof}: ${words.join(' ')}\n`);
}
