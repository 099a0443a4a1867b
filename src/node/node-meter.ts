/**
 * Counters of a node from store events: jobs added, attempts started and ended, and failures, by queue. They cover the
 * whole store, whatever process did it.
 */
import type { StoreEvent } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import { family } from '../metrics/catalogue.ts';
import type { Family, Sample } from '../metrics/metrics-text.ts';

/** Queues beyond these are counted together, so that queue names cannot exhaust memory. */
const MAX_QUEUES = 1_000;
const OTHERS = '(others)';

/** History events that end an attempt. */
const SETTLED: ReadonlySet<string> = new Set([
  'completed',
  'advanced',
  'failed',
  'retried',
  'resent',
  'released',
  'forwarded',
  'lost',
]);

export interface NodeMeter {
  families(): readonly Family[];
  stop(): void;
}

export function startNodeMeter(store: Store): NodeMeter {
  const counts = new EventCounts();
  const unsubscribe = store.jobs.subscribe((events) => {
    for (const event of events) counts.add(event);
  });
  return { families: () => counts.families(), stop: unsubscribe };
}

class EventCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  add({ queue, type }: StoreEvent): void {
    const known = this.#counts.has(queue) || this.#counts.size < MAX_QUEUES ? queue : OTHERS;
    const counts = this.#counts.get(known) ?? new Map<string, number>();
    this.#counts.set(known, counts);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }

  families(): readonly Family[] {
    const isFailure = (event: string): boolean => event === 'failed' || event === 'retried';
    return [
      family('added_total', this.#of('added')),
      family('claims_total', this.#of('claimed')),
      family('settles_total', this.#byEvent(SETTLED)),
      family('failures_total', this.#sum(isFailure)),
    ];
  }

  #of(event: string): readonly Sample[] {
    return this.#sum((each) => each === event);
  }

  #sum(isCounted: (event: string) => boolean): readonly Sample[] {
    return [...this.#counts].map(([queue, counts]) => ({
      labels: { queue },
      value: [...counts].reduce((sum, [event, count]) => sum + (isCounted(event) ? count : 0), 0),
    }));
  }

  #byEvent(events: ReadonlySet<string>): readonly Sample[] {
    return [...this.#counts].flatMap(([queue, counts]) =>
      [...counts].filter(([event]) => events.has(event)).map(([event, value]) => ({ labels: { queue, event }, value })),
    );
  }
}
