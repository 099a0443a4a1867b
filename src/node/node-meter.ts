/**
 * Counters of a node: claims, settlements and failures by queue from store events, and the event loop delay. Gauges are
 * not kept here; they are read on request.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { StoreEvent } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { Family, Sample } from './metrics-text.ts';

/** Queues beyond these are counted together, so that queue names cannot exhaust memory. */
const MAX_QUEUES = 1_000;
const OTHERS = '(others)';
/** A shorter interval would be the main reason for an idle node to wake up. */
const LOOP_STEP_MS = 250;
const NANO = 1e9;

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
  const loop = monitorEventLoopDelay({ resolution: LOOP_STEP_MS });
  loop.enable();
  const unsubscribe = store.jobs.subscribe((events) => {
    for (const event of events) counts.add(event);
  });
  return {
    families: () => [...counts.families(), loopFamily(loop)],
    stop() {
      unsubscribe();
      loop.disable();
    },
  };
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
    const type = 'counter';
    const isFailure = (event: string): boolean => event === 'failed' || event === 'retried';
    return [
      { name: 'longhaul_added_total', help: 'Jobs added.', type, samples: this.#of('added') },
      { name: 'longhaul_claims_total', help: 'Attempts started.', type, samples: this.#of('claimed') },
      { name: 'longhaul_settles_total', help: 'Attempts ended, by outcome.', type, samples: this.#byEvent(SETTLED) },
      { name: 'longhaul_failures_total', help: 'Attempts that failed.', type, samples: this.#sum(isFailure) },
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

/** Covers the time since the last read, so that one bad moment does not dominate the day. */
function loopFamily(loop: ReturnType<typeof monitorEventLoopDelay>): Family {
  // The monitor includes its own sampling interval in each value.
  const seconds = (nano: number): number => Math.max(0, Number.isFinite(nano) ? nano / NANO - LOOP_STEP_MS / 1_000 : 0);
  const samples = [
    { labels: { quantile: '0.5' }, value: seconds(loop.percentile(50)) },
    { labels: { quantile: '0.99' }, value: seconds(loop.percentile(99)) },
    { labels: { quantile: '1' }, value: seconds(loop.max) },
  ];
  loop.reset();
  const help = 'Event loop delay since the last read.';
  return { name: 'longhaul_event_loop_delay_seconds', help, type: 'gauge', samples };
}
