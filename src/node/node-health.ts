/**
 * Readiness of a node: whether the store answers, the disk has room and the runner process lives; and its metrics.
 *
 * Reads only. A store that does not answer in time is a reported problem, never an error.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../core/ports/store.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { askStore, type StoreAnswer } from '../metrics/store-metrics.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import { freeBytes } from './node-metrics.ts';

export interface HealthSources {
  readonly store: Store;
  /** The directory whose disk must have free space. */
  readonly folder: string;
  readonly metrics: MetricsRegistry;
  runner(): RunnerHealth;
}

export interface Readiness {
  readonly isReady: boolean;
  /** One line for each problem. */
  readonly problems: readonly string[];
}

export interface NodeHealth {
  readiness(): Promise<Readiness>;
  /** Returns the metrics as Prometheus text. */
  metrics(): Promise<string>;
}

/** Below this, the store has released its ballast or is about to. */
const MIN_FREE_BYTES = 2 * 1024 * 1024;

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
    metrics: () => sources.metrics.text(),
  };
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
