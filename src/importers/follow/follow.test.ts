/** A bridge that dies before or after any of its calls: the next one moves each entry exactly once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { openKeyReader } from '../../stores/redis/calls/read-keys.ts';
import { openScriptRunner } from '../../stores/redis/calls/run-scripts.ts';
import type { Source } from './follow.ts';
import { follow } from './follow.ts';
import { followWorqr } from './follow-systems.ts';

const TASKS = ['one', 'two', 'three'];
const KEY = 'longhaul:import:worqr:worqr';
const MOST_CALLS = 30;

/** Counts calls, and fails at one of them and at all later ones, as if the process were killed there. */
class Death {
  calls = 0;
  readonly #at: number;
  readonly #when: 'before' | 'after';

  constructor(at: number, when: 'before' | 'after') {
    this.#at = at;
    this.#when = when;
  }

  get hasCome(): boolean {
    return this.calls >= this.#at;
  }

  async around<T>(call: () => Promise<T>): Promise<T> {
    this.calls += 1;
    const isIts = this.calls === this.#at;
    if (this.calls > this.#at || (isIts && this.#when === 'before')) throw new Error('killed');
    const answer = await call();
    if (isIts) throw new Error('killed');
    return answer;
  }
}

describeWithRedis('a bridge', () => {
  let server: RedisServer;
  let keys: Awaited<ReturnType<typeof openKeyReader>>;
  let scripts: Awaited<ReturnType<typeof openScriptRunner>>;
  beforeAll(async () => {
    server = await startRedis();
    keys = await openKeyReader(server.url);
    scripts = await openScriptRunner(server.url);
  });
  afterAll(async () => {
    keys.close();
    scripts.close();
    await server.stop();
  });

  /** Runs a bridge until nothing is left to move, or until it dies. */
  async function bridge(store: Store, death: Death | null): Promise<void> {
    const stopping = new AbortController();
    const around = <T>(call: () => Promise<T>) => (death === null ? call() : death.around(call));
    const source: Source = {
      keys,
      run: (script, args) => around(() => scripts.run(script, args)),
      close: () => undefined,
    };
    const jobs = {
      ...store.jobs,
      add: (given: Parameters<Store['jobs']['add']>[0]) => around(() => store.jobs.add(given)),
      commit: (given: readonly string[]) => around(() => store.jobs.commit(given)),
    };
    const following = follow({
      system: followWorqr(),
      store: { ...store, jobs },
      open: async () => source,
      owner: `test-${Math.random()}`,
      newName: () => 'name',
      now: () => Date.now(),
      signal: stopping.signal,
      onMoved: () => undefined,
      onNotice: () => undefined,
    }).catch((error: unknown) => {
      if (!String(error).includes('killed')) throw error;
    });
    const isIdle = async () =>
      (await ask(server.port, 'LLEN worqr:queues:q')) === '0' && (await ask(server.port, `HLEN ${KEY}`)) === '2';
    while (death?.hasCome !== true && !(await isIdle())) await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort();
    await following;
    // The lock of a killed bridge ends by itself; this test does not wait for it.
    await ask(server.port, `DEL ${KEY}:lock`);
  }

  /** Runs what can be claimed, and deletes it at once. */
  async function work({ jobs }: Store): Promise<readonly string[]> {
    const claimed = await jobs.claim({ worker: 'w', queues: ['q'], limit: 9, requestId: String(Math.random()) });
    await jobs.settle(claimed.jobs.map(({ id, lease }) => ({ kind: 'complete', id, token: lease?.token ?? 0 })));
    await jobs.delete(claimed.jobs.map(({ id }) => id));
    return claimed.jobs.map(({ data }) => JSON.parse(data) as string);
  }

  it.each(['before', 'after'] as const)(
    'that dies %s any call leaves each entry to be moved exactly once',
    async (when) => {
      let reached = 0;
      for (let at = 1; at <= MOST_CALLS; at += 1) {
        await ask(server.port, 'FLUSHALL');
        await ask(server.port, `LPUSH worqr:queues:q ${TASKS.join(' ')}`);
        const [store, death] = [openMemoryStore(), new Death(at, when)];
        await bridge(store, death);
        const first = await work(store);
        await bridge(store, null);
        expect({ at, ran: [...first, ...(await work(store))] }).toEqual({ at, ran: TASKS });
        await store.close();
        if (!death.hasCome) break;
        reached = at;
      }
      expect(reached).toBeGreaterThan(6);
    },
  );
});
