/**
 * qless's channels: `put`, `popped`, `completed`, `failed`, `stalled`, `canceled`, `track` and `untrack` with the id of a
 * tracked job; `log` with events as JSON; `w:<worker>` with what a worker must know. They are derived from the events of
 * the store, so they report changes by any caller. Nothing is read as long as there is no listener.
 *
 * The members of a JSON text have the order in which qless writes them, because clients compare texts.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import { TrackedIds } from '../../core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { isPattern, matcherOf } from './channel-pattern.ts';
import { noteOf, notifiedAt, RETRIES_EXHAUSTED } from './qless-history.ts';
import { failureMessage, scheduleOf } from './qless-job.ts';

/** Receives the messages of a channel, and the channel's name. */
export type QlessListener = (message: string, channel: string) => void;

/** One message. `tracked`: only for tracked jobs. */
interface Message {
  readonly channel: string;
  readonly text: string;
  readonly tracked?: boolean;
}

interface Change {
  readonly event: StoreEvent;
  readonly job: Job | null;
  readonly row: HistoryRow | undefined;
  readonly rows: readonly HistoryRow[];
}

interface Subscription {
  readonly matches: (channel: string) => boolean;
  readonly listener: QlessListener;
}

export class QlessEvents {
  readonly #store: Store;
  readonly #subscriptions = new Set<Subscription>();
  #unsubscribe: (() => void) | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Subscribes to a channel, or to all that match a pattern with `*`, `?` or `[…]`. */
  on(channel: string, listener: QlessListener): () => void {
    const matches = isPattern(channel) ? matcherOf(channel) : (name: string): boolean => name === channel;
    const subscription = { matches, listener };
    this.#subscriptions.add(subscription);
    if (this.#unsubscribe === null) this.#listen();
    return () => {
      this.#subscriptions.delete(subscription);
      if (this.#subscriptions.size === 0) this.close();
    };
  }

  /** Sends a message after those of the changes before it. */
  publish(channel: string, text: string): void {
    if (this.#subscriptions.size > 0) this.#inTurn(async () => this.#send(channel, text));
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#subscriptions.clear();
  }

  #inTurn(task: () => Promise<void>): void {
    this.#sending = this.#sending.then(task).catch(() => undefined);
  }

  #listen(): void {
    const tracked = new TrackedIds();
    this.#unsubscribe = this.#store.jobs.subscribe((events) => this.#inTurn(() => this.#sendAll(events, tracked)));
    this.#inTurn(() => tracked.load(this.#store.records));
  }

  async #sendAll(events: readonly StoreEvent[], tracked: TrackedIds): Promise<void> {
    if (events.some(({ type }) => type === 'gap')) tracked.forget();
    await tracked.load(this.#store.records);
    for (const event of events) {
      if (event.id === '' || event.type === 'progress') continue;
      await this.#sendChange(event, tracked.concerns(event));
    }
  }

  /** Whether the job was tracked follows from the order of events: the store knows only its present mark. */
  async #sendChange(event: StoreEvent, isTracked: boolean): Promise<void> {
    const { jobs } = this.#store;
    const [[job], rows] = await Promise.all([jobs.find([event.id]), jobs.history(event.id)]);
    const row = rows.findLast((each) => each.event === event.type);
    for (const { channel, text, tracked } of messagesOf({ event, job: job ?? null, row, rows }))
      if (tracked !== true || isTracked) this.#send(channel, text);
  }

  #send(channel: string, text: string): void {
    for (const { matches, listener } of this.#subscriptions) if (matches(channel)) listener(text, channel);
  }
}

type Describe = (change: Change) => readonly Message[];

const toTracked = (channel: string, { event }: Change): Message => ({ channel, text: event.id, tracked: true });
const log = (content: Readonly<Record<string, unknown>>): Message => ({
  channel: 'log',
  text: JSON.stringify(content),
});

/** To its worker and to the log. */
function lockLost(jid: string, worker: string): readonly Message[] {
  const message = log({ jid, event: 'lock_lost', worker });
  return [{ ...message, channel: `w:${worker}` }, message];
}

/** The worker that held the lease that this change ended, or null. */
function holderOf({ row, rows }: Change): string | null {
  if (row === undefined || row.token === null) return null;
  return rows.findLast(({ event, token }) => event === 'claimed' && token === row.token)?.by ?? row.by ?? '';
}

/** The note that was left just before this change. */
function noteBefore({ row, rows }: Change): ReturnType<typeof noteOf> {
  const place = row === undefined ? -1 : rows.lastIndexOf(row);
  const before = rows[place - 1];
  return before === undefined ? null : noteOf(before);
}

const put: Describe = (change) => {
  const { id: jid, queue } = change.event;
  const [note, holder] = [noteBefore(change), holderOf(change)];
  const lost = holder === null || holder === note?.by ? [] : lockLost(jid, holder);
  if (note?.silent === true) return lost;
  return [log({ jid, event: 'put', queue }), ...lost, toTracked('put', change)];
};

const completed: Describe = (change) => [
  toTracked('completed', change),
  log({ jid: change.event.id, event: 'completed', queue: change.event.queue }),
];

const advanced: Describe = (change) => {
  const { id: jid, queue: to } = change.event;
  return [toTracked('completed', change), log({ jid, to, event: 'advanced', queue: noteBefore(change)?.from ?? to })];
};

function failedLog({ event, job }: Change, worker: string): Message {
  const message = job?.failure ? failureMessage(job.failure, event.queue) : undefined;
  return log({ message, jid: event.id, group: job?.failure?.group, event: 'failed', worker });
}

/** A job that `retry` fails is published as a tracked job, and not logged. */
const failed: Describe = (change) => {
  const { event, job, row } = change;
  if (event.state !== 'failed') return [];
  const isExhausted = event.type === 'retried' || job?.failure?.detail === RETRIES_EXHAUSTED;
  return [...(isExhausted ? [] : [failedLog(change, row?.by ?? '')]), toTracked('failed', change)];
};

const lost: Describe = (change) => {
  const { event, row, rows } = change;
  const holder = holderOf(change) ?? '';
  const isTold = notifiedAt(rows, row?.token ?? null) !== null;
  return [
    ...(isTold ? [] : [toTracked('stalled', change), ...lockLost(event.id, holder)]),
    ...(event.state === 'failed' ? [toTracked('failed', change), failedLog(change, holder)] : []),
  ];
};

const canceled: Describe = (change) => {
  const { id: jid, queue } = change.event;
  const worker = change.row?.by ?? '';
  const message = log({ jid, queue, event: 'canceled', worker });
  return [message, ...(worker === '' ? [] : [{ ...message, channel: `w:${worker}` }]), toTracked('canceled', change)];
};

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  // Jobs of a recurring job are created without an event.
  added: (change) => (change.job !== null && scheduleOf(change.job) !== false ? [] : put(change)),
  moved: put,
  requeued: put,
  completed,
  forwarded: completed,
  advanced,
  claimed: (change) => [toTracked('popped', change)],
  failed,
  retried: failed,
  released: (change) => lockLost(change.event.id, holderOf(change) ?? ''),
  lost,
  cancelled: canceled,
  tracked: ({ event }) => [{ channel: 'track', text: event.id }],
  untracked: ({ event }) => [{ channel: 'untrack', text: event.id }],
  // A failed job is canceled by deleting it.
  deleted: (change) => (change.event.state === 'failed' ? canceled(change) : []),
  changed: (change) => {
    const { stalled, worker = '' } = (change.row === undefined ? null : noteOf(change.row)) ?? {};
    return stalled === undefined ? [] : [toTracked('stalled', change), ...lockLost(change.event.id, worker)];
  },
};

function messagesOf(change: Change): readonly Message[] {
  return DESCRIPTIONS[change.event.type]?.(change) ?? [];
}
