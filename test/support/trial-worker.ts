/**
 * A worker over a memory store, with its events, awaited with a deadline. All workers are stopped at the end of their
 * test.
 */
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import type { NewJob } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { QueueSettings } from '../../src/core/settings/settings.ts';
import { settingsOf } from '../../src/core/settings/settings.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import type { Worker, WorkerOptions } from '../../src/worker/loop/worker.ts';
import { createWorker } from '../../src/worker/loop/worker.ts';
import type { WorkerEvent } from '../../src/worker/loop/worker-event.ts';
import { type FaultyStore, faultyStore } from './faulty-store.ts';

export interface TrialWorker {
  readonly worker: Worker;
  readonly store: FaultyStore;
  readonly events: readonly WorkerEvent[];
  /** Takes the first event of this type that matches and was not taken yet. */
  next<Type extends WorkerEvent['type']>(
    type: Type,
    fits?: (event: WorkerEvent & { type: Type }) => boolean,
    timeoutMs?: number,
  ): Promise<WorkerEvent & { type: Type }>;
  add(id: string, job?: Partial<NewJob>): Promise<void>;
  find(id: string): Promise<Job>;
}

export interface TrialOptions extends Partial<Omit<WorkerOptions, 'store'>> {
  readonly store?: Store;
  readonly settings?: Partial<QueueSettings>;
}

export async function startWorker(options: TrialOptions = {}): Promise<TrialWorker> {
  const trial = trialWorker(options);
  await trial.worker.start();
  return trial;
}

export function trialWorker({ settings, store: given, ...options }: TrialOptions = {}): TrialWorker {
  const store =
    given !== undefined && 'callsOf' in given ? (given as FaultyStore) : faultyStore(given ?? openMemoryStore());
  const inbox = eventInbox();
  const worker = createWorker({
    queues: ['q'],
    concurrency: 1,
    run: async () => ({ kind: 'complete' }),
    settingsFor: () => settingsOf(settings),
    host: 'here',
    pid: process.pid,
    random: () => 0.5,
    newId: randomUUID,
    ...options,
    store,
    onEvent: inbox.receive,
  });
  onTestFinished(() => worker.stop({ force: true }));
  return {
    worker,
    store,
    events: inbox.events,
    next: inbox.next,
    add: async (id, job = {}) => void (await store.jobs.add([{ id, queue: 'q', data: '{}', ...job }])),
    find: async (id) => (await store.jobs.find([id]))[0] as Job,
  };
}

function eventInbox() {
  const events: WorkerEvent[] = [];
  const taken = new Set<WorkerEvent>();
  const checks = new Set<() => void>();
  const receive = (event: WorkerEvent): void => {
    events.push(event);
    for (const check of checks) check();
  };
  const next: TrialWorker['next'] = (type, fits = () => true, timeoutMs = 20_000) =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = events.find((event) => !taken.has(event) && event.type === type && fits(event as never));
        if (found === undefined) return;
        taken.add(found);
        clearTimeout(timer);
        checks.delete(check);
        resolve(found as never);
      };
      const timer = setTimeout(() => {
        checks.delete(check);
        reject(
          new Error(`no event ${type} in ${timeoutMs} ms; received: ${events.map((each) => each.type).join(' ')}`),
        );
      }, timeoutMs);
      checks.add(check);
      check();
    });
  return { events, receive, next };
}
