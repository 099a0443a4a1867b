/**
 * How many jobs ended, minute by minute, over the last day: for the page's bar and its sparklines.
 *
 * Kept in memory and saved as one record a minute, so that a restart of the node does not begin the day again. What ended
 * while no node was there is not in it: it is a look, not an account.
 */
import type { StoreEvent } from '../core/job-store.ts';
import type { Store } from '../core/store.ts';

export interface MinuteCounts {
  /** Jobs done and jobs failed in each of the last minutes, oldest first; the last one is still going on. */
  readonly done: readonly number[];
  readonly failed: readonly number[];
}

export interface Throughput {
  /** Of one queue, or of all. */
  minutes(count: number, queue?: string): MinuteCounts;
  /** Since midnight UTC. */
  doneToday(): number;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
const KEPT_MINUTES = 1_440;
const MOST_QUEUES = 1_000;
const RECORD = 'throughput';

type Counts = [done: number, failed: number];
type Saved = [minute: number, queue: string, done: number, failed: number][];

export interface ThroughputOptions {
  readonly store: Store;
  /** Under which it is saved: the node's own word. */
  readonly key: string;
  now(): number;
  onTrouble(what: string, error: unknown): void;
}

export async function startThroughput(options: ThroughputOptions): Promise<Throughput> {
  const { store, key, now } = options;
  const ends = new MinuteEnds(now);
  const saved = await store.records.get(RECORD, key);
  if (saved !== null) ends.take(JSON.parse(saved.value) as Saved);
  const unsubscribe = store.jobs.subscribe((events) => {
    for (const event of events) ends.hear(event);
  });
  const save = async (): Promise<void> => {
    const expiresAt = now() + KEPT_MINUTES * MINUTE_MS;
    await store.records.put({ kind: RECORD, key, value: JSON.stringify(ends.all()), expiresAt });
  };
  const trouble = (error: unknown): void => options.onTrouble('the throughput could not be saved', error);
  const timer = setInterval(() => void save().catch(trouble), MINUTE_MS);
  return {
    minutes: (count, queue) => ends.last(count, queue),
    doneToday: () => ends.doneToday(),
    async stop() {
      unsubscribe();
      clearInterval(timer);
      await save().catch(trouble);
    },
  };
}

class MinuteEnds {
  readonly #now: () => number;
  readonly #minutes = new Map<number, Map<string, Counts>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  hear({ queue, state, type }: StoreEvent): void {
    if (type === 'completed' || type === 'forwarded') this.#add(this.#minute(), queue, [1, 0]);
    if (type === 'failed' && state === 'failed') this.#add(this.#minute(), queue, [0, 1]);
  }

  take(saved: Saved): void {
    for (const [minute, queue, done, failed] of saved) this.#add(minute, queue, [done, failed]);
  }

  all(): Saved {
    this.#forget();
    return [...this.#minutes].flatMap(([minute, queues]) =>
      [...queues].map(([queue, [done, failed]]): Saved[number] => [minute, queue, done, failed]),
    );
  }

  last(count: number, queue: string | undefined): MinuteCounts {
    const present = this.#minute();
    const sums = Array.from({ length: count }, (_, place) => this.#sum(present - count + 1 + place, queue));
    return { done: sums.map(([done]) => done), failed: sums.map(([, failed]) => failed) };
  }

  doneToday(): number {
    const present = this.#minute();
    return this.last((present % KEPT_MINUTES) + 1, undefined).done.reduce((sum, done) => sum + done, 0);
  }

  #minute(): number {
    return Math.floor(this.#now() / MINUTE_MS);
  }

  #sum(minute: number, queue: string | undefined): Counts {
    const queues = this.#minutes.get(minute);
    if (queue !== undefined) return queues?.get(queue) ?? [0, 0];
    return [...(queues?.values() ?? [])].reduce<Counts>((sum, each) => [sum[0] + each[0], sum[1] + each[1]], [0, 0]);
  }

  #add(minute: number, queue: string, [done, failed]: Counts): void {
    const queues = this.#minutes.get(minute) ?? new Map<string, Counts>();
    if (queues.size === 0) this.#forget();
    this.#minutes.set(minute, queues);
    const known = queues.has(queue) || queues.size < MOST_QUEUES ? queue : '';
    const before = queues.get(known) ?? [0, 0];
    queues.set(known, [before[0] + done, before[1] + failed]);
  }

  #forget(): void {
    const oldest = this.#minute() - KEPT_MINUTES;
    for (const minute of this.#minutes.keys()) if (minute <= oldest) this.#minutes.delete(minute);
  }
}
