/**
 * The metrics of a connection: those of its store, and what its workers do. Counted from the first read on, so that a
 * process that never reads them pays nothing.
 */
import type { Store } from '../core/ports/store.ts';
import { LoopMeter } from '../metrics/loop-meter.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { capacityFamilies, slotFamilies } from '../metrics/slot-meter.ts';
import { storeFamilies } from '../metrics/store-metrics.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import type { WorkerEvent } from '../worker/loop/worker-event.ts';
import type { Work } from './work.ts';

export class ConnectionMetrics {
  /** Where parts of the connection register metrics of their own. */
  readonly registry = new MetricsRegistry();
  readonly #store: Store;
  readonly #works: ReadonlySet<Work>;
  #meters: { readonly workers: WorkerMeter; readonly loop: LoopMeter } | null = null;

  constructor(store: Store, works: ReadonlySet<Work>) {
    this.#store = store;
    this.#works = works;
  }

  /** Counts an event of a worker of this connection. */
  record(event: WorkerEvent): void {
    this.#meters?.workers.record(event);
  }

  text(): Promise<string> {
    if (this.#meters === null) this.#start();
    return this.registry.text();
  }

  stop(): void {
    this.#meters?.loop.stop();
  }

  #start(): void {
    const [workers, loop] = [new WorkerMeter(), new LoopMeter()];
    this.#meters = { workers, loop };
    this.registry.register('store', () => storeFamilies(this.#store));
    this.registry.register('workers', () => workers.families());
    this.registry.register('process', () => [loop.family()]);
    this.registry.register('slots', () => {
      const usages = [...this.#works].map((work) => work.usage());
      const slots = usages.map(({ queues, slots, used }) => ({ queue: queues.join(','), slots, used }));
      return [...slotFamilies(slots), ...capacityFamilies(usages.flatMap(({ capacity }) => capacity ?? []))];
    });
  }
}
