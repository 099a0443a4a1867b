/**
 * A store under test: its ports with the test's time in every call, and shortcuts for common steps.
 *
 * Time moves only by `pass`. This module knows no rule of the store.
 */
import { onTestFinished } from 'vitest';
import type { Job, RunningJob } from '../../src/core/job/job.ts';
import { isRunning } from '../../src/core/job/job.ts';
import type { ClockSource } from '../../src/core/lifecycle/clock.ts';
import { jobStoreOver } from '../../src/core/operations/port.ts';
import type {
  AddResult,
  ClaimRequest,
  ClaimResult,
  Heartbeat,
  HeartbeatResult,
  JobStore,
  NewJob,
  Settlement,
  SettleResult,
  StoreEvent,
} from '../../src/core/ports/job-store.ts';
import type { Records } from '../../src/core/ports/records.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { QUEUE_RECORD, type QueueSettings } from '../../src/core/settings/settings.ts';
import type { OpenStore } from './contract.ts';

/** As large as real times, to detect a store that keeps too few digits. */
export const START = 1_750_000_000_000;
export const LEASE_MS = 60_000;

type Without<T, Names extends string> = T extends unknown ? Omit<T, Names> : never;
/** A settlement without its job and token. */
export type Outcome = Without<Settlement, 'id' | 'token'>;
type LeaseHolder = Pick<RunningJob, 'id' | 'lease'>;

export function aJob(job: Partial<NewJob> & { readonly id: string }): NewJob {
  return { queue: 'q', data: '{}', ...job };
}

export const complete: Outcome = { kind: 'complete' };
export const release: Outcome = { kind: 'release', reason: 'drain' };
export const fail = (outcome: Partial<Outcome & { kind: 'fail' }> = {}): Outcome => ({
  kind: 'fail',
  failure: { group: 'boom', message: 'it broke', detail: null },
  delayMs: 0,
  ...outcome,
});
export const retry = (delayMs = 0): Outcome => ({
  kind: 'retry',
  failure: { group: 'boom', message: 'once more', detail: 'a line' },
  delayMs,
});
export const resend = (delayMs = 0): Outcome => ({ kind: 'resend', delayMs, reason: 'not yet' });

/** Returns `ok`, or the code of the refusal. */
export function outcomeOf(result: { ok: true } | { ok: false; refusal: { code: string } }): string {
  return result.ok ? 'ok' : result.refusal.code;
}

export async function openWorkbench(open: OpenStore, clock: ClockSource): Promise<Workbench> {
  const store = await open({ clock });
  onTestFinished(() => store.close());
  return new Workbench(store);
}

export class Workbench {
  readonly store: Store;
  readonly jobs: JobStore;
  readonly records: Records;
  now = START;
  #requests = 0;

  constructor(store: Store) {
    this.store = store;
    const { jobs, records } = store;
    this.jobs = jobStoreOver(
      (name, argument, options) => {
        const time = { now: this.now, ...options };
        if (name === 'workers') return jobs.workers(time) as never;
        return (jobs[name] as (argument: unknown, options: unknown) => never)(argument, time);
      },
      (listener) => jobs.subscribe(listener),
    );
    this.records = {
      get: (kind, key) => records.get(kind, key, { now: this.now }),
      put: (record) => records.put(record, { now: this.now }),
      list: (query) => records.list(query, { now: this.now }),
      delete: (kind, key, options) => records.delete(kind, key, { now: this.now, ...options }),
    };
  }

  pass(ms: number): void {
    this.now += ms;
  }

  async setQueue(queue: string, settings: Partial<QueueSettings>): Promise<void> {
    await this.records.put({ kind: QUEUE_RECORD, key: queue, value: JSON.stringify(settings) });
  }

  add(...jobs: readonly (Partial<NewJob> & { readonly id: string })[]): Promise<readonly AddResult[]> {
    return this.jobs.add(jobs.map(aJob));
  }

  requestClaim(request: Partial<ClaimRequest> = {}): Promise<ClaimResult> {
    this.#requests += 1;
    return this.jobs.claim({
      worker: 'w',
      queues: ['q'],
      limit: 10,
      requestId: `request-${this.#requests}`,
      ...request,
    });
  }

  async claim(request: Partial<ClaimRequest> = {}): Promise<readonly RunningJob[]> {
    const { jobs } = await this.requestClaim(request);
    return jobs.filter(isRunning);
  }

  async claimOne(request: Partial<ClaimRequest> = {}): Promise<RunningJob> {
    const [job] = await this.claim({ limit: 1, ...request });
    if (job === undefined) throw new Error('there is no job to claim');
    return job;
  }

  async claimIds(request: Partial<ClaimRequest> = {}): Promise<readonly string[]> {
    return (await this.claim(request)).map(({ id }) => id);
  }

  /** Adds one job and claims it. */
  async running(job: Partial<NewJob> & { readonly id: string }): Promise<RunningJob> {
    await this.add(job);
    return this.claimOne({ queues: [job.queue ?? 'q'] });
  }

  async settle({ id, lease }: LeaseHolder, outcome: Outcome): Promise<SettleResult> {
    const [result] = await this.jobs.settle([{ ...outcome, id, token: lease.token } as Settlement]);
    return result as SettleResult;
  }

  async heartbeat({ id, lease }: LeaseHolder, beat: Omit<Heartbeat, 'id' | 'token'> = {}): Promise<HeartbeatResult> {
    const [result] = await this.jobs.heartbeat([{ ...beat, id, token: lease.token }]);
    return result as HeartbeatResult;
  }

  async job(id: string): Promise<Job> {
    const [job] = await this.jobs.find([id]);
    if (job === null || job === undefined) throw new Error(`there is no job ${id}`);
    return job;
  }

  async states(...ids: readonly string[]): Promise<readonly (string | null)[]> {
    return (await this.jobs.find(ids)).map((job) => job?.state ?? null);
  }

  async events(id: string): Promise<readonly string[]> {
    return (await this.jobs.history(id)).map(({ event }) => event);
  }

  /** Advances the time to the end of a lease of the usual length and runs maintenance, which returns lost jobs. */
  async loseLeases(ms = LEASE_MS): Promise<void> {
    this.pass(ms);
    await this.jobs.maintain({ limit: 100 });
  }

  /** Subscribes to the store's events. Resolves when the subscription is active. */
  async listen(): Promise<EventLog> {
    const log = new EventLog();
    onTestFinished(this.jobs.subscribe((events) => log.take(events)));
    await log.ready(() => this.setQueue('probe', {}));
    return log;
  }
}

const DEADLINE_MS = 10_000;
const PROBE_MS = 100;

/** The events received so far, and a way to wait for an expected one. */
export class EventLog {
  readonly #events: StoreEvent[] = [];
  readonly #waiting = new Set<() => void>();

  take(events: readonly StoreEvent[]): void {
    this.#events.push(...events);
    for (const check of this.#waiting) check();
  }

  /** Events of jobs and queues, without the probe that detects an active subscription. */
  get events(): readonly StoreEvent[] {
    return this.#events.filter(({ queue }) => queue !== 'probe');
  }

  until(isThere: (events: readonly StoreEvent[]) => boolean): Promise<readonly StoreEvent[]> {
    return this.#wait(() => isThere(this.events), DEADLINE_MS).then(() => this.events);
  }

  /** A subscription may take a moment to become active: `probe` is repeated until an event arrives. */
  async ready(probe: () => Promise<void>): Promise<void> {
    for (const end = Date.now() + DEADLINE_MS; Date.now() < end; ) {
      await probe();
      const isActive = await this.#wait(() => this.#events.length > 0, PROBE_MS).then(
        () => true,
        () => false,
      );
      if (isActive) return;
    }
    throw new Error('the store emitted no event');
  }

  #wait(isThere: () => boolean, deadlineMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (isThere()) done(resolve);
      };
      const done = (end: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        end();
      };
      const missed = new Error(`an expected event did not arrive; received: ${JSON.stringify(this.events)}`);
      const timer = setTimeout(() => done(() => reject(missed)), deadlineMs);
      this.#waiting.add(check);
      check();
    });
  }
}
