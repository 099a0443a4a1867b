/**
 * What a worker promises when its process is blocked, killed, frozen or stopped, or when its store is unavailable.
 * One suite for every store that outlives a process.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { type Fixture, type Message, startFixture } from '../support/processes.ts';

/** A store that several processes can open, and that can be made unavailable. */
export interface Place {
  readonly address: string;
  readonly store: Store;
  /** Makes every call fail until `restore`. */
  takeAway(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

const LEASE_MS = 1_500;
/** P7: claimable again within the lease and two seconds. */
const RECOVERY_MS = LEASE_MS + 2_000;
/** A quarter of a lease: the worker's next heartbeat. Anything earlier needs an event of the store. */
const BEAT_MS = 20_000;

export function workerSuite(openPlace: () => Promise<Place>): void {
  let place: Place;
  let folder: string;
  let queue = 0;
  const workers: Fixture[] = [];

  beforeAll(async () => {
    place = await openPlace();
    folder = await mkdtemp(join(tmpdir(), 'longhaul-worker-'));
  });
  beforeEach(() => {
    queue += 1;
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill9()));
  });
  afterAll(async () => {
    await place.close();
    await rm(folder, { recursive: true, force: true });
  });

  const queueName = () => `q${queue}`;
  const idOf = (name: string) => `${name}-${queue}`;
  const add = async (name: string, data: object) => {
    await place.store.jobs.add([{ id: idOf(name), queue: queueName(), data: JSON.stringify(data) }]);
  };
  const find = async (name: string) => (await place.store.jobs.find([idOf(name)]))[0] as Job;
  const settledAs = async (name: string, state: string): Promise<void> => {
    await expect.poll(async () => (await find(name)).state).toBe(state);
  };
  const handles = (name: string) => (message: Message) => message['type'] === 'handler' && message['id'] === idOf(name);
  const says = (type: string) => (message: Message) => message['type'] === type;

  const start = async (options: object = {}): Promise<Fixture> => {
    const plan = { address: place.address, queues: [queueName()], leaseMs: LEASE_MS, ...options };
    const worker = await startFixture('worker.mjs', [JSON.stringify(plan)]);
    workers.push(worker);
    await worker.next(says('ready'));
    return worker;
  };

  /** A process frozen inside a transaction would hold the lock of the file, and no other could claim. */
  const freeze = async (worker: Fixture): Promise<void> => {
    for (let tries = 0; tries < 10; tries += 1) {
      worker.stop();
      const written = place.store.jobs.add([{ id: `probe-${queue}-${tries}`, queue: 'probes', data: '{}' }]);
      const isFree = await Promise.race([written.then(() => true), setTimeout(500, false)]);
      if (isFree) return;
      worker.cont();
      await written;
    }
    throw new Error('the worker could not be frozen outside of a transaction');
  };

  describe('a worker whose event loop is blocked', () => {
    it('keeps its leases for three times their length, is shown as blocked, and its progress is visible', async () => {
      await add('a', { do: 'spin', ms: 3 * LEASE_MS });
      await add('behind', { do: 'wait' });
      const blocked = await start({ concurrency: 2 });
      await blocked.next(handles('a'));
      // Meanwhile: a process may take as long to start as the other one is blocked.
      const starting = start();
      await expect
        .poll(async () => (await place.store.jobs.workers()).map(({ info }) => info).join())
        .toContain('"blockedMs":');
      await expect.poll(async () => (await find('a')).progress?.percent).toBeGreaterThan(30);
      const idle = await starting;
      await settledAs('a', 'done');
      expect(await find('a')).toMatchObject({ attempt: 1, crashes: 0, result: String(blocked.pid) });
      expect(await find('behind')).toMatchObject({ attempt: 1, crashes: 0 });
      expect(idle.messages.some(says('handler'))).toBe(false);
      const { ms } = await blocked.next(says('blocked'));
      expect(ms).toBeGreaterThan(2 * LEASE_MS);
    });

    it('is killed when that lasts too long, and another worker claims its job', async () => {
      const blocked = await start({ maxBlockMs: 1_200 });
      await add('a', { do: 'spin', ms: 60_000 });
      await blocked.next(handles('a'));
      expect(await blocked.ended).toEqual({ code: null, signal: 'SIGKILL' });
      const endedAt = Date.now();
      expect((await find('a')).lease?.until).toBeGreaterThan(endedAt);
      const other = await start();
      await other.next(handles('a'));
      expect(await find('a')).toMatchObject({ attempt: 2, crashes: 1, failures: 0 });
    });
  });

  describe('a worker that is killed', () => {
    it('has its job started elsewhere within the lease and two seconds, as one crash and no failure', async () => {
      const killed = await start();
      await add('a', { do: 'wait' });
      await killed.next(handles('a'));
      const heir = await start();
      await killed.kill9();
      const killedAt = Date.now();
      // By the clock of the process that starts it: when this process learns of it is no part of the promise.
      const { at } = await heir.next(handles('a'));
      expect(Number(at) - killedAt).toBeLessThan(RECOVERY_MS);
      heir.send('finish');
      await settledAs('a', 'done');
      expect(await find('a')).toMatchObject({ attempt: 2, crashes: 1, failures: 0, interruptions: 0 });
    });

    it('has its job started before jobs that waited longer', async () => {
      const killed = await start();
      await add('a', { do: 'wait' });
      await killed.next(handles('a'));
      const other = await start();
      await add('busy', { do: 'wait' });
      await other.next(handles('busy'));
      await add('patient', { do: 'wait' });
      await killed.kill9();
      await expect.poll(async () => ((await find('a')).lease?.until ?? 0) <= Date.now()).toBe(true);
      other.send('finish');
      await other.next(handles('a'));
      expect(await find('patient')).toMatchObject({ state: 'waiting', attempt: 0 });
    });
  });

  describe('a worker that is frozen past its lease', () => {
    it('has lost its lease: its handler is aborted, its result is refused, and the other result stands', async () => {
      const frozen = await start();
      await add('a', { do: 'deaf' });
      await frozen.next(handles('a'));
      await freeze(frozen);
      const other = await start();
      await other.next(handles('a'));
      other.send('finish');
      await settledAs('a', 'done');
      frozen.cont();
      expect(await frozen.next(says('aborted'))).toMatchObject({ reason: 'lease-lost' });
      frozen.send('finish');
      const ended = await frozen.next(says('ended'));
      expect(ended).toMatchObject({ answer: { ok: false, refusal: { code: 'lease-lost' } }, stopReason: 'lease-lost' });
      expect(await find('a')).toMatchObject({ state: 'done', result: String(other.pid), attempt: 2 });
      const rows = await place.store.jobs.history(idOf('a'));
      expect(rows.at(-1)).toMatchObject({ event: 'late', note: `complete: ${frozen.pid}` });
    });
  });

  describe('a worker that is stopped', () => {
    it('finishes its jobs, starts no more, and exits cleanly', async () => {
      const worker = await start();
      await add('a', { do: 'wait' });
      await worker.next(handles('a'));
      const ended = worker.terminate();
      // The worker may claim while the signal is on its way.
      await worker.next(says('told'));
      await add('b', { do: 'wait' });
      worker.send('finish');
      await worker.next(says('stopped'));
      expect(await ended).toEqual({ code: 0, signal: null });
      expect(await find('a')).toMatchObject({ state: 'done', attempt: 1 });
      expect(await find('b')).toMatchObject({ state: 'waiting', attempt: 0 });
      const ids = (await place.store.jobs.workers()).filter(({ pid }) => pid === worker.pid);
      expect(ids).toEqual([]);
    });

    it('releases what does not end in time, as an interruption and to the front', async () => {
      const worker = await start({ drainMs: 100 });
      await add('a', { do: 'wait' });
      await worker.next(handles('a'));
      expect(await worker.terminate()).toEqual({ code: 0, signal: null });
      expect(await find('a')).toMatchObject({ state: 'waiting', interruptions: 1, failures: 0, crashes: 0 });
      expect((await find('a')).returnedAt).not.toBeNull();
    });

    it('releases it at once when it is stopped twice', async () => {
      const worker = await start({ drainMs: 60_000 });
      await add('a', { do: 'deaf' });
      await worker.next(handles('a'));
      void worker.terminate();
      await expect(worker.next(says('stopping'), 200)).rejects.toThrow('did not send');
      expect(await worker.terminate()).toEqual({ code: 0, signal: null });
      expect(await find('a')).toMatchObject({ state: 'waiting', interruptions: 1 });
    });

    it('stops a job that another process cancels, long before its next heartbeat', async () => {
      const worker = await start({ leaseMs: 4 * BEAT_MS });
      await add('a', { do: 'wait' });
      await worker.next(handles('a'));
      await place.store.jobs.cancel([{ id: idOf('a') }]);
      await worker.next(says('ended'), BEAT_MS);
      expect(await find('a')).toMatchObject({ state: 'cancelled' });
    });
  });

  describe('a worker whose store is unavailable when a job ends', () => {
    it('leaves the settlement on disk, and the next process delivers it', async () => {
      const journals = await mkdtemp(join(folder, 'journals-'));
      const plan = { journalPath: join(journals, 'journal'), leaseMs: 60_000 };
      const worker = await start(plan);
      await add('a', { do: 'deaf' });
      await worker.next(handles('a'));
      await place.takeAway();
      try {
        worker.send('finish');
        // The file exists before its first line; a worker killed in between has promised nothing yet.
        await expect.poll(() => linesIn(journals)).toHaveLength(1);
        await worker.kill9();
      } finally {
        await place.restore();
      }
      await expect.poll(() => find('a')).toMatchObject({ state: 'running', attempt: 1 });
      const next = await start(plan);
      expect(await next.next(says('delivered'))).toMatchObject({ answer: { ok: true, state: 'done' } });
      expect(await find('a')).toMatchObject({ state: 'done', attempt: 1, result: String(worker.pid) });
      await expect.poll(() => readdir(journals)).toEqual([]);
    });
  });
}

/** Returns the whole lines of all files of a directory. */
async function linesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').slice(0, -1));
}
