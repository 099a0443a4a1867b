/**
 * qless's channels: `put`, `popped`, `completed`, `failed`, `stalled`, `canceled`, `track` and `untrack` with the id of a tracked
 * job; `log` with everything as JSON; `w:<worker>` with what a worker must know. Told from what happens in the store, whoever
 * does it; nothing is looked up as long as nobody listens.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import { TrackedIds } from '../../core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { isToldOf, noteOf } from './qless-history.ts';

/** Receives the messages of a channel. */
export type QlessListener = (message: string) => void;

/** What happened, in qless's words: a channel for tracked jobs, and what is told in `log` or to a worker. */
interface News {
  readonly channel?: string;
  readonly log?: Readonly<Record<string, unknown>>;
  readonly worker?: string | null;
}

interface Happening {
  readonly event: StoreEvent;
  readonly job: Job | null;
  readonly row: HistoryRow | undefined;
  readonly rows: readonly HistoryRow[];
}

export class QlessEvents {
  readonly #store: Store;
  readonly #listeners = new Map<string, Set<QlessListener>>();
  #unsubscribe: (() => void) | null = null;
  #telling: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  on(channel: string, listener: QlessListener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#unsubscribe === null) this.#listen();
    return () => {
      listeners.delete(listener);
      if ([...this.#listeners.values()].every(({ size }) => size === 0)) this.close();
    };
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#listeners.clear();
  }

  #listen(): void {
    const tracked = new TrackedIds();
    const inTurn = (task: () => Promise<void>): void => {
      this.#telling = this.#telling.then(task).catch(() => undefined);
    };
    this.#unsubscribe = this.#store.jobs.subscribe((events) => inTurn(() => this.#tellAll(events, tracked)));
    inTurn(() => tracked.load(this.#store.records));
  }

  async #tellAll(events: readonly StoreEvent[], tracked: TrackedIds): Promise<void> {
    if (events.some(({ type }) => type === 'gap')) tracked.forget();
    await tracked.load(this.#store.records);
    for (const event of events) {
      if (event.id === '' || event.type === 'progress') continue;
      await this.#tell(event, tracked.concerns(event));
    }
  }

  /** Whether the job was tracked is known by the order of events: a look at the store would find what came later. */
  async #tell(event: StoreEvent, isTracked: boolean): Promise<void> {
    const { jobs } = this.#store;
    const [[job], rows] = await Promise.all([jobs.find([event.id]), jobs.history(event.id)]);
    const row = rows.findLast((each) => each.event === event.type);
    for (const { channel, log, worker } of newsOf({ event, job: job ?? null, row, rows })) {
      if (channel !== undefined && isTracked) this.#emit(channel, event.id);
      if (log === undefined) continue;
      const message = JSON.stringify({ jid: event.id, ...log });
      if (worker) this.#emit(`w:${worker}`, message);
      this.#emit('log', message);
    }
  }

  #emit(channel: string, message: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(message);
  }
}

type Teller = (happening: Happening) => readonly News[];

const put: Teller = (happening) => [
  ...lockLost(happening),
  { channel: 'put', log: { event: 'put', queue: happening.event.queue } },
];

const completed: Teller = ({ event }) => [{ channel: 'completed', log: { event: 'completed', queue: event.queue } }];

const failed: Teller = ({ event, job, row }) => {
  if (event.state !== 'failed') return [{ log: { event: 'retry', queue: event.queue } }];
  const { group, message } = job?.failure ?? {};
  return [{ channel: 'failed', log: { event: 'failed', queue: event.queue, worker: row?.by ?? '', group, message } }];
};

const canceled: Teller = ({ event, row }) => [
  {
    channel: 'canceled',
    worker: row?.by ?? null,
    log: { event: 'canceled', queue: event.queue, worker: row?.by ?? '' },
  },
];

/** Whoever held the lease that this ended. */
function lockLost({ row, rows }: Happening): readonly News[] {
  if (row === undefined || row.token === null) return [];
  const worker = rows.findLast(({ event, token }) => event === 'claimed' && token === row.token)?.by ?? row.by ?? '';
  return [lockLostBy(worker)];
}

const lockLostBy = (worker: string): News => ({ worker, log: { event: 'lock_lost', worker } });

const TELLERS: Readonly<Record<string, Teller>> = {
  added: put,
  moved: put,
  requeued: put,
  completed,
  forwarded: completed,
  advanced: ({ event }) => [{ channel: 'completed', log: { event: 'advanced', to: event.queue } }],
  claimed: ({ event, row }) => [
    { channel: 'popped', log: { event: 'popped', queue: event.queue, worker: row?.by ?? '' } },
  ],
  failed,
  retried: failed,
  released: lockLost,
  lost: (happening) => [
    ...(isToldOf(happening.rows, happening.row?.token ?? null) ? [] : [{ channel: 'stalled' }, ...lockLost(happening)]),
    ...(happening.event.state === 'failed' ? failed(happening) : []),
  ],
  cancelled: canceled,
  tracked: () => [{ channel: 'track' }],
  untracked: () => [{ channel: 'untrack' }],
  // A failed job is canceled by deleting it.
  deleted: (happening) => (happening.event.state === 'failed' ? canceled(happening) : []),
  changed: ({ row }) => {
    const { stalled, worker } = (row === undefined ? null : noteOf(row)) ?? {};
    return stalled === undefined ? [] : [{ channel: 'stalled', ...lockLostBy(worker ?? '') }];
  },
};

function newsOf(happening: Happening): readonly News[] {
  return TELLERS[happening.event.type]?.(happening) ?? [];
}
