/**
 * How a node is: whether its store answers, its disk has room and its runner lives; and the same as metrics.
 *
 * Looks and changes nothing. A store that does not answer in time is a finding and never an error.
 */
import { access, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueueCounts } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import { withDeadline } from '../worker/outcome/deadline.ts';
import type { Family, Sample } from './metrics-text.ts';
import type { NodeMeter } from './node-meter.ts';

export interface HealthSources {
  readonly store: Store;
  /** The folder whose disk must have room. */
  readonly folder: string;
  readonly meter: NodeMeter;
  readonly version: string;
  readonly startedAt: number;
  runner(): RunnerHealth;
}

export interface Readiness {
  readonly isReady: boolean;
  /** One line for each thing that is not as it should be. */
  readonly problems: readonly string[];
}

export interface NodeHealth {
  readiness(): Promise<Readiness>;
  metrics(): Promise<readonly Family[]>;
}

const STORE_DEADLINE_MS = 5_000;
/** Below this the store has given up its ballast or is about to. */
const LEAST_FREE_BYTES = 2 * 1024 * 1024;
const STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;

export function createNodeHealth(sources: HealthSources): NodeHealth {
  return {
    async readiness() {
      const { folder } = sources;
      const [store, free, isHeavy] = await Promise.all([
        askStore(sources.store),
        freeBytes(folder),
        hasBallast(folder),
      ]);
      const disk = diskProblem(free) ?? (isHeavy ? null : 'the disk was full: no new jobs until there is room again');
      const problems = [storeProblem(store), disk, runnerProblem(sources.runner())].filter((each) => each !== null);
      return { isReady: problems.length === 0, problems };
    },
    async metrics() {
      const [store, free] = await Promise.all([askStore(sources.store), freeBytes(sources.folder)]);
      return [...jobFamilies(store), ...sources.meter.families(), ...nodeFamilies(sources, { store, free })];
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

async function freeBytes(folder: string): Promise<number | null> {
  const stats = await statfs(folder).catch(() => null);
  return stats === null ? null : stats.bavail * stats.bsize;
}

/** A store in the folder gives its ballast up when the disk is full, and takes no new jobs until it has it back. */
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
  if (free === null) return 'the home folder cannot be looked at';
  return free < LEAST_FREE_BYTES ? `the disk of the home folder is full: ${free} bytes are free` : null;
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
  const info = { name: 'longhaul_info', help: 'The version that runs.', type: 'gauge' } as const;
  return [
    { ...info, samples: [{ labels: { version }, value: 1 }] },
    gauge('store_up', 'Whether the store answered just now.', store.isUp ? 1 : 0),
    gauge('store_latency_seconds', 'How long the store took to count its jobs.', store.isUp ? store.seconds : null),
    gauge('runner_up', 'Whether the process that starts scripts lives.', runner().isUp ? 1 : 0),
    gauge('disk_free_bytes', 'Free space on the disk of the home folder.', free),
    gauge('resident_memory_bytes', 'Memory of the node.', process.memoryUsage.rss()),
    gauge('start_time_seconds', 'When the node started, since 1970.', startedAt / 1_000),
  ];
}
