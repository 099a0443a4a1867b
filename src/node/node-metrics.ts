/** The metrics of a node: those of its store, of its workers and queues, and of its machine. */
import { statfs } from 'node:fs/promises';
import type { Store } from '../core/ports/store.ts';
import { family, single } from '../metrics/catalogue.ts';
import { LoopMeter } from '../metrics/loop-meter.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { Family } from '../metrics/metrics-text.ts';
import { capacityFamilies, slotFamilies } from '../metrics/slot-meter.ts';
import { storeFamilies } from '../metrics/store-metrics.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import type { WorkerEvent } from '../worker/loop/worker-event.ts';
import { listNodes } from './cluster/list-nodes.ts';
import { startNodeMeter } from './node-meter.ts';
import type { Node } from './open-node.ts';

export interface NodeMetricsSources {
  readonly store: Store;
  /** The directory whose disk must have free space. */
  readonly folder: string;
  readonly version: string;
  readonly startedAt: number;
}

export interface NodeMetrics {
  /** Where parts of the process register metrics of their own. */
  readonly registry: MetricsRegistry;
  /** Counts an event of a worker of this node. */
  record(event: WorkerEvent): void;
  /** Adds the metrics of the node once it is open. */
  add(node: Pick<Node, 'load' | 'capacity' | 'runnerHealth' | 'storeNow'>): void;
  stop(): void;
}

export function startNodeMetrics(sources: NodeMetricsSources): NodeMetrics {
  const { store, folder } = sources;
  const registry = new MetricsRegistry();
  const workers = new WorkerMeter();
  const events = startNodeMeter(store);
  const loop = new LoopMeter();
  registry.register('store', () => storeFamilies(store));
  registry.register('workers', () => workers.families());
  registry.register('events', () => events.families());
  registry.register('process', async () => [loop.family(), ...processFamilies(sources, await freeBytes(folder))]);
  return {
    registry,
    record: (event) => workers.record(event),
    add(node) {
      const slots = () => node.load().map(({ queue, slots, running }) => ({ queue, slots, used: running }));
      registry.register('slots', () => [...slotFamilies(slots()), ...capacityFamilies([node.capacity()])]);
      registry.register('runner', () => [runnerFamily(node.runnerHealth())]);
      registry.register('nodes', async () => [await nodesFamily(store, node.storeNow())]);
    },
    stop() {
      events.stop();
      loop.stop();
    },
  };
}

/** Returns the free bytes of the disk of a directory; null if it cannot be read. */
export async function freeBytes(folder: string): Promise<number | null> {
  const stats = await statfs(folder).catch(() => null);
  return stats === null ? null : stats.bavail * stats.bsize;
}

const runnerFamily = ({ isUp }: RunnerHealth): Family => single('runner_up', isUp ? 1 : 0);

async function nodesFamily(store: Store, now: number): Promise<Family> {
  const nodes = await listNodes(store, now);
  const samples = (['up', 'draining', 'stopped', 'gone'] as const).map((state) => ({
    labels: { state },
    value: nodes.filter((node) => node.state === state).length,
  }));
  return family('nodes', samples);
}

function processFamilies({ version, startedAt }: NodeMetricsSources, free: number | null): readonly Family[] {
  return [
    family('info', [{ labels: { version }, value: 1 }]),
    single('disk_free_bytes', free),
    single('resident_memory_bytes', process.memoryUsage.rss()),
    single('start_time_seconds', startedAt / 1_000),
  ];
}
