/**
 * Readiness and metrics of a node: whether the store answers, the disk has room and the runner process lives.
 *
 * Reads only. A store that does not answer in time is a reported problem, never an error.
 */
import { access, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueueCounts } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import { withDeadline } from '../worker/outcome/deadline.ts';
import type { Family, Sample } from './metrics-text.ts';
import type { NodeMeter } from './node-meter.ts';
import { outboxFamilies } from './outbox-families.ts';

export interface HealthSources {
  readonly store: Store;
  /** The directory whose disk must have free space. */
  readonly folder: string;
  readonly meter: NodeMeter;
  readonly version: string;
  readonly startedAt: number;
  runner(): RunnerHealth;
}

export interface Readiness {
  readonly isReady: boolean;
  /** One line for each problem. */
  readonly problems: readonly string[];
}

export interface NodeHealth {
  readiness(): Promise<Readiness>;
  metrics(): Promise<readonly Family[]>;
}

const STORE_DEADLINE_MS = 5_000;
/** Below this, the store has released its ballast or is about to. */
const MIN_FREE_BYTES = 2 * 1024 * 1024;
const STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;

export function createNodeHealth(sources: HealthSources): NodeHealth {
  return {
    async readiness() {
      const { folder } = sources;
      const [store, free, isBallastThere] = await Promise.all([
        askStore(sources.store),
        freeBytes(folder),
        hasBallast(folder),
      ]);
      const disk =
        diskProblem(free) ?? (isBallastThere ? null : 'the disk was full: no new jobs until there is free space');
      const problems = [storeProblem(store), disk, runnerProblem(sources.runner())].filter((each) => each !== null);
      return { isReady: problems.length === 0, problems };
    },
    async metrics() {
      const [store, free] = await Promise.all([askStore(sources.store), freeBytes(sources.folder)]);
      const outboxes = store.isUp ? await askOutboxes(sources.store) : [];
      return [
        ...jobFamilies(store),
        ...outboxes,
        ...sources.meter.families(),
        ...nodeFamilies(sources, { store, free }),
      ];
    },
  };
}

type StoreAnswer =
  | { readonly isUp: true; readonly counts: readonly QueueCounts[]; readonly seconds: number }
  | { readonly isUp: false; readonly problem: string };

async function askStore(store: Store): Promise<StoreAnswer> {
  const before = performance.now();
  try {
    const counts = await withDeadline(store.jobs.count(), STORE_DEADLINE_MS);
    return { isUp: true, counts, seconds: (performance.now() - before) / 1_000 };
  } catch (error) {
    return { isUp: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Without an answer in time they are left out: `longhaul_store_up` says why. */
async function askOutboxes({ records }: Store): Promise<readonly Family[]> {
  return withDeadline(outboxFamilies(records, Date.now()), STORE_DEADLINE_MS).catch(() => []);
}

async function freeBytes(folder: string): Promise<number | null> {
  const stats = await statfs(folder).catch(() => null);
  return stats === null ? null : stats.bavail * stats.bsize;
}

/** A SQLite store releases its ballast when the disk is full, and accepts no new jobs until the ballast is restored. */
async function hasBallast(folder: string): Promise<boolean> {
  const isThere = (name: string): Promise<boolean> =>
    access(join(folder, name)).then(
      () => true,
      () => false,
    );
  return !(await isThere('store.db')) || (await isThere('ballast'));
}

const storeProblem = (store: StoreAnswer): string | null =>
  store.isUp ? null : `the store does not answer: ${store.problem}`;

function diskProblem(free: number | null): string | null {
  if (free === null) return 'the data directory cannot be read';
  return free < MIN_FREE_BYTES ? `the disk of the data directory is full: ${free} bytes are free` : null;
}

function runnerProblem({ isUp, lastProblem }: RunnerHealth): string | null {
  return isUp ? null : `the runner, which starts scripts, is not up${lastProblem === null ? '' : `: ${lastProblem}`}`;
}

function jobFamilies(store: StoreAnswer): readonly Family[] {
  const counts = store.isUp ? store.counts : [];
  const samples: readonly Sample[] = counts.flatMap((each) =>
    STATES.map((state) => ({ labels: { queue: each.queue, state }, value: each[state] })),
  );
  return [{ name: 'longhaul_jobs', help: 'Jobs by queue and state.', type: 'gauge', samples }];
}

function nodeFamilies(
  { version, startedAt, runner }: HealthSources,
  { store, free }: { store: StoreAnswer; free: number | null },
): readonly Family[] {
  const gauge = (name: string, help: string, value: number | null): Family => ({
    name: `longhaul_${name}`,
    help,
    type: 'gauge',
    samples: value === null ? [] : [{ value }],
  });
  const info = { name: 'longhaul_info', help: 'Version of the node.', type: 'gauge' } as const;
  return [
    { ...info, samples: [{ labels: { version }, value: 1 }] },
    gauge('store_up', 'Whether the store answers.', store.isUp ? 1 : 0),
    gauge('store_latency_seconds', 'Time the store took to count its jobs.', store.isUp ? store.seconds : null),
    gauge('runner_up', 'Whether the runner process, which starts scripts, is alive.', runner().isUp ? 1 : 0),
    gauge('disk_free_bytes', 'Free space on the disk of the data directory.', free),
    gauge('resident_memory_bytes', 'Resident memory of the node process.', process.memoryUsage.rss()),
    gauge('start_time_seconds', 'Start time of the node, in seconds since the epoch.', startedAt / 1_000),
  ];
}
