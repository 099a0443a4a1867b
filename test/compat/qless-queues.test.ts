/** qless's commands about queues, workers, tags, configuration and what recurs, each named after it, over every store. */
import { expect, test } from 'vitest';
import type { Qless } from '../../src/compat/qless/index.ts';
import { openQless } from '../../src/compat/qless/index.ts';
import { overStores } from './over-stores.ts';

interface Seen {
  readonly [field: string]: unknown;
  readonly jid: string;
}

overStores(
  'qless queues',
  (open) => {
    const qless = async (): Promise<Qless> => openQless((await open()).store);
    const put = (client: Qless, now: number, jid: string, ...options: unknown[]) =>
      client.call('put', now, '', 'q', jid, 'Klass', '{}', 0, ...options);
    const putAll = async (client: Qless, ...jids: string[]) => {
      for (const jid of jids) await put(client, 0, jid);
    };
    const get = async (client: Qless, now: number, jid: string) => (await client.call('get', now, jid)) as Seen;
    const pop = async (client: Qless, now: number, count = 10, worker = 'w') =>
      ((await client.call('pop', now, 'q', worker, count)) as readonly Seen[]).map(({ jid }) => jid);

    test('qless get, multiget: jobs by id, and nothing for those that are not there', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b');
      expect(await client.call('get', 0, 'none')).toBeNull();
      const found = (await client.call('multiget', 0, 'b', 'none', 'a')) as Seen[];
      expect(found.map(({ jid }) => jid)).toEqual(['b', 'a']);
    });

    test('qless pop, peek: as many as asked, the one that was first put first', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b', 'c');
      const peeked = (await client.call('peek', 0, 'q', 2)) as Seen[];
      expect(peeked.map(({ jid, state }) => [jid, state])).toEqual([
        ['a', 'waiting'],
        ['b', 'waiting'],
      ]);
      expect(await pop(client, 1, 2)).toEqual(['a', 'b']);
      expect(await pop(client, 1, 2)).toEqual(['c']);
      await expect(client.call('pop', 1, 'q', '', 1)).rejects.toThrow('Pop(): Arg "worker" missing');
      await expect(client.call('pop', 1, 'q', 'w')).rejects.toThrow('Pop(): Arg "count" missing or not a number: nil');
    });

    test('qless config.get, config.set, config.unset: options with their defaults, heard at once by every queue', async () => {
      const client = await qless();
      expect(await client.call('config.get', 0)).toMatchObject({
        heartbeat: 60,
        'grace-period': 10,
        'jobs-history-count': 50_000,
        'stats-history': 30,
        'histogram-history': 7,
      });
      await putAll(client, 'a', 'b', 'c');
      await client.call('config.set', 0, 'heartbeat', '30');
      expect(await client.call('config.get', 0, 'heartbeat')).toBe(30);
      await pop(client, 0, 1);
      expect((await get(client, 0, 'a'))['expires']).toBe(30);
      await client.call('config.set', 0, 'q-heartbeat', 5);
      await client.call('config.set', 0, 'grace-period', 0);
      await pop(client, 0, 1);
      expect((await get(client, 0, 'b'))['expires']).toBe(5);
      expect(await pop(client, 5, 1)).toEqual(['b']);
      await client.call('config.unset', 5, 'q-heartbeat');
      await client.call('config.unset', 5, 'heartbeat');
      await pop(client, 5, 1);
      expect((await get(client, 5, 'c'))['expires']).toBe(65);
      await expect(client.call('config.set', 5, 'heartbeat', 'soon')).rejects.toThrow('must be a number: soon');
      expect(await client.call('config.get', 5, 'heartbeat')).toBe(60);
      expect(await client.call('config.get', 5, 'unheard-of')).toBeNull();
    });

    test('qless queues, length: what is in them, by state', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b', 'c');
      await put(client, 0, 'd', 'depends', '["a"]');
      await client.call('put', 0, '', 'q', 'e', 'Klass', '{}', 100);
      await pop(client, 0, 1);
      await pop(client, 30, 1);
      const counts = {
        name: 'q',
        waiting: 1,
        running: 1,
        stalled: 1,
        scheduled: 1,
        depends: 1,
        recurring: 0,
        paused: false,
      };
      expect(await client.call('queues', 60, 'q')).toMatchObject(counts);
      expect(await client.call('queues', 60)).toMatchObject([counts]);
      expect(await client.call('length', 60, 'q')).toBe(4);
    });

    test('qless jobs: ids by state', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b', 'c');
      await put(client, 0, 'd', 'depends', '["a"]');
      await client.call('put', 0, '', 'q', 'e', 'Klass', '{}', 100);
      await pop(client, 0, 1);
      await pop(client, 30, 2);
      await client.call('complete', 31, 'c', 'w', 'q', '{}');
      const jobs = (state: string, ...rest: unknown[]) => client.call('jobs', 60, state, ...rest);
      expect(await jobs('complete')).toEqual(['c']);
      expect(await jobs('running', 'q')).toEqual(['b']);
      expect(await jobs('stalled', 'q')).toEqual(['a']);
      expect(await jobs('scheduled', 'q')).toEqual(['e']);
      expect(await jobs('depends', 'q')).toEqual(['d']);
      expect(await jobs('recurring', 'q')).toEqual([]);
      expect(await jobs('running', 'q', 1, 5)).toEqual([]);
      await expect(jobs('sleeping', 'q')).rejects.toThrow('Jobs(): Unknown type "sleeping"');
      await expect(jobs('constructor', 'q')).rejects.toThrow('Jobs(): Unknown type "constructor"');
      await expect(jobs('running')).rejects.toThrow('Jobs(): Arg "queue" missing');
    });

    test('qless failed, unfail: by group, and back into a queue', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b', 'c');
      await pop(client, 1);
      for (const jid of ['a', 'b']) await client.call('fail', 2, jid, 'w', 'upload error', 'no');
      await client.call('fail', 2, 'c', 'w', 'other', 'no');
      expect(await client.call('failed', 3)).toEqual({ 'upload error': 2, other: 1 });
      expect(await client.call('failed', 3, 'upload error')).toEqual({ total: 2, jobs: ['b', 'a'] });
      expect(await client.call('failed', 3, 'upload error', 1, 1)).toEqual({ total: 2, jobs: ['a'] });
      expect(await client.call('unfail', 3, 'second', 'upload error', 1)).toBe(1);
      expect(await client.call('unfail', 3, 'second', 'upload error')).toBe(1);
      expect(await client.call('failed', 3)).toEqual({ other: 1 });
      expect(await get(client, 3, 'a')).toMatchObject({
        state: 'waiting',
        queue: 'second',
        failure: {},
        remaining: 5,
        history: [{ q: 'q' }, { what: 'popped' }, { what: 'failed' }, { what: 'put', q: 'second' }],
      });
    });

    test('qless pause, unpause: nothing is popped, and everything can be put', async () => {
      const client = await qless();
      await client.call('pause', 0, 'q', 'r');
      await putAll(client, 'a');
      expect([await pop(client, 1), await client.call('queues', 1, 'q')]).toMatchObject([
        [],
        { paused: true, waiting: 1 },
      ]);
      await client.call('unpause', 2, 'q', 'r');
      expect(await pop(client, 2)).toEqual(['a']);
    });

    test('qless queue.forget: a queue is listed no more until something is put into it', async () => {
      const client = await qless();
      await putAll(client, 'a');
      await client.call('queue.forget', 0, 'q');
      expect(await client.call('queues', 0)).toEqual([]);
      await putAll(client, 'b');
      expect(await client.call('queues', 0)).toMatchObject([{ name: 'q', waiting: 2 }]);
    });

    test('qless tag: add, remove, get and top', async () => {
      const client = await qless();
      await put(client, 0, 'a', 'tags', '["x"]');
      await put(client, 0, 'b', 'tags', '["x","z"]');
      expect(await client.call('tag', 0, 'add', 'a', 'y', 'x')).toEqual(['x', 'y']);
      expect(await client.call('tag', 0, 'get', 'x')).toEqual({ total: 2, jobs: ['a', 'b'] });
      expect(await client.call('tag', 0, 'get', 'x', 1, 1)).toEqual({ total: 2, jobs: ['b'] });
      expect(await client.call('tag', 0, 'top')).toEqual(['x']);
      expect(await client.call('tag', 0, 'remove', 'a', 'x')).toEqual(['y']);
      expect((await get(client, 0, 'a'))['tags']).toEqual(['y']);
      await expect(client.call('tag', 0, 'add', 'none', 'y')).rejects.toThrow('Tag(): Job none does not exist');
      await expect(client.call('tag', 0, 'paint', 'a')).rejects.toThrow('Tag(): First argument must be "add"');
    });

    test('qless track: marked jobs, and those of them that are gone', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b');
      expect(await client.call('track', 0, 'track', 'a')).toBe(1);
      await client.call('track', 0, 'track', 'b');
      await client.call('track', 0, 'untrack', 'b');
      expect(await client.call('track', 0)).toMatchObject({ jobs: [{ jid: 'a', tracked: true }], expired: [] });
      await client.call('cancel', 0, 'a');
      expect(await client.call('track', 0)).toEqual({ jobs: [], expired: ['a'] });
      await expect(client.call('track', 0, 'track', 'none')).rejects.toThrow('Track(): Job none does not exist');
      await expect(client.call('track', 0, 'follow', 'b')).rejects.toThrow('Track(): Unknown action "follow"');
    });

    test('qless workers, worker.deregister: who popped, and what it has', async () => {
      const client = await qless();
      await putAll(client, 'a', 'b', 'c');
      await pop(client, 0, 1, 'first');
      await pop(client, 30, 1, 'second');
      expect(await client.call('workers', 60)).toEqual([
        { name: 'second', jobs: 1, stalled: 0 },
        { name: 'first', jobs: 0, stalled: 1 },
      ]);
      expect(await client.call('workers', 60, 'second')).toEqual({ jobs: ['b'], stalled: [] });
      expect(await client.call('workers', 60, 'nobody')).toEqual({ jobs: [], stalled: [] });
      await client.call('worker.deregister', 60, 'first');
      expect(await client.call('workers', 60)).toMatchObject([{ name: 'second' }]);
      expect(await client.call('workers', 30 + 86_401)).toEqual([]);
    });

    test('qless workers, worker.deregister: who pops again and again is seen each second, and after any other', async () => {
      const client = await qless();
      const seen = async (now: number) => (await client.call('workers', now)) as { name: string }[];
      const names = async (now: number) => (await seen(now)).map(({ name }) => name);
      for (const now of [10, 10.5, 11]) await pop(client, now, 1, 'first');
      expect(await names(11 + 86_399)).toEqual(['first']);
      await pop(client, 11.1, 1, 'second');
      await pop(client, 11.2, 1, 'first');
      expect(await names(12)).toEqual(['first', 'second']);
      await client.call('worker.deregister', 12, 'first');
      await pop(client, 11.9, 1, 'first');
      expect(await names(12)).toEqual(['first', 'second']);
    });

    test('qless jobs-history: maintenance runs with the calls, without a worker or a node', async () => {
      const longhaul = await open();
      const client = openQless(longhaul.store);
      await client.call('config.set', 0, 'jobs-history', 100);
      await putAll(client, 'a', 'b');
      await pop(client, 0);
      await client.call('complete', 0, 'a', 'w', 'q', '{}');
      await client.call('complete', 99, 'b', 'w', 'q', '{}').catch(() => null);
      expect(await client.call('get', 99, 'a')).not.toBeNull();
      await put(client, 101, 'c');
      await pop(client, 101);
      await client.call('complete', 101, 'c', 'w', 'q', '{}');
      expect(await longhaul.store.jobs.find(['a'], { now: 101_000 })).toEqual([null]);
    });

    test('qless stats: a day of a queue, in 148 buckets', async () => {
      const client = await qless();
      const day = 20 * 86_400;
      await client.call('config.set', day, 'q-heartbeat', 10_000);
      for (const jid of ['a', 'b', 'c']) await put(client, day, jid);
      await pop(client, day + 10, 2);
      await pop(client, day + 7_200, 1);
      await client.call('complete', day + 90, 'a', 'w', 'q', '{}');
      await client.call('fail', day + 95, 'b', 'w', 'g', 'm');
      const stats = (await client.call('stats', day + 7_200, 'q', day)) as Record<string, { histogram: number[] }>;
      expect(stats).toMatchObject({
        retries: 0,
        failed: 1,
        failures: 1,
        wait: { count: 3, mean: (10 + 10 + 7_200) / 3 },
        run: { count: 1, mean: 80, std: 0 },
      });
      const filled = (histogram: number[]) =>
        histogram.flatMap((count, place) => (count === 0 ? [] : [[place, count]]));
      expect(stats['wait']?.histogram).toHaveLength(148);
      expect(filled(stats['wait']?.histogram ?? [])).toEqual([
        [10, 2],
        [60 + 59 + 1, 1],
      ]);
      expect(filled(stats['run']?.histogram ?? [])).toEqual([[60, 1]]);
      await client.call('unfail', day + 100, 'q', 'g');
      expect(await client.call('stats', day + 100, 'q', day)).toMatchObject({ failed: 0, failures: 1 });
      expect(await client.call('stats', day, 'q', day - 86_400)).toMatchObject({ wait: { count: 0, mean: 0, std: 0 } });
    });

    test('qless throttle.set, get, delete, locks, pending: no more run than the throttle lets', async () => {
      const client = await qless();
      await client.call('throttle.set', 0, 'gpu', 1);
      expect(await client.call('throttle.get', 0, 'gpu')).toEqual({ id: 'gpu', maximum: 1, ttl: -1 });
      for (const jid of ['a', 'b']) await put(client, 0, jid, 'throttles', '["gpu"]');
      expect(await pop(client, 1)).toEqual(['a']);
      expect(await client.call('job.get', 1, 'b')).toMatchObject({ state: 'throttled', throttles: ['gpu', 'ql:q:q'] });
      expect(await client.call('throttle.locks', 1, 'gpu')).toEqual(['a']);
      expect(await client.call('throttle.pending', 1, 'gpu')).toEqual(['b']);
      expect(await client.call('jobs', 1, 'throttled', 'q')).toEqual(['b']);
      expect(await client.call('queue.counts', 1, 'q')).toMatchObject({ waiting: 0, running: 1, throttled: 1 });
      await client.call('complete', 2, 'a', 'w', 'q', '{}');
      expect(await pop(client, 3)).toEqual(['b']);
      await put(client, 3, 'c', 'throttles', '["gpu"]');
      expect(await pop(client, 3)).toEqual([]);
      await client.call('throttle.delete', 4, 'gpu');
      expect(await client.call('throttle.get', 4, 'gpu')).toEqual({ id: 'gpu', maximum: 0, ttl: -2 });
      expect(await pop(client, 4)).toEqual(['c']);
    });

    test('qless throttle.release, throttle.ttl: what a running job holds is free when it ends', async () => {
      const client = await qless();
      await client.call('throttle.set', 0, 'gpu', 1);
      await put(client, 0, 'a', 'throttles', '["gpu"]');
      await pop(client, 1);
      await expect(client.call('throttle.release', 1, 'gpu', 'a')).rejects.toThrow('Job a is running');
      await client.call('timeout', 1, 'a');
      expect(await client.call('throttle.release', 1, 'gpu', 'a')).toBeNull();
      expect(await client.call('throttle.locks', 1, 'gpu')).toEqual([]);
      expect(await client.call('throttle.ttl', 1, 'gpu')).toBe(-1);
      await client.call('throttle.set', 1, 'gpu', 1, 60);
      expect(await client.call('throttle.ttl', 31, 'gpu')).toBe(30);
      await put(client, 32, 'b', 'throttles', '["gpu"]');
      await put(client, 32, 'c', 'throttles', '["gpu"]');
      const popIt = async (at: number) => ((await client.call('queue.pop', at, 'q', 'w', 1)) as Seen[]).length;
      expect([await popIt(33), await popIt(60), await popIt(61)]).toEqual([1, 0, 1]);
      expect(await client.call('throttle.ttl', 61, 'gpu')).toBe(-2);
    });

    test('qless queue.throttle.get, queue.throttle.set: how many of a queue run at once', async () => {
      const client = await qless();
      await client.call('queue.throttle.set', 0, 'q', 1);
      expect(await client.call('queue.throttle.get', 0, 'q')).toEqual({ id: 'ql:q:q', maximum: 1, ttl: -1 });
      await client.call('throttle.set', 0, 'ql:q:q', 1);
      await putAll(client, 'a', 'b');
      expect(await pop(client, 1)).toEqual(['a']);
      expect(await client.call('job.get', 1, 'b')).toMatchObject({ state: 'throttled' });
      expect((await get(client, 1, 'b'))['state']).toBe('waiting');
      await client.call('config.set', 1, 'q-max-concurrency', 2);
      expect(await pop(client, 1)).toEqual(['b']);
    });

    test('qless dotted names: the commands of reqless, with its shapes and its offset in a peek', async () => {
      const client = await qless();
      for (const jid of ['a', 'b', 'c']) await client.call('queue.put', 0, 'w', 'q', jid, 'Klass', '{}', 0);
      const peeked = (await client.call('queue.peek', 1, 'q', 1, 5)) as Seen[];
      expect(peeked.map(({ jid }) => jid)).toEqual(['b', 'c']);
      expect(await client.call('queues.names', 1)).toEqual(['q']);
      expect(await client.call('job.get', 1, 'a')).toMatchObject({
        throttles: ['ql:q:q'],
        history: [{ when: 0, what: 'put', queue: 'q' }],
      });
      expect(await client.call('config.getAll', 1)).toMatchObject({ application: 'reqless', 'max-pop-retry': '1' });
    });

    test('qless recur: a job for each interval that has passed, created by a pop or a peek', async () => {
      const client = await qless();
      const recur = ['q', 'r', 'Klass', '{"n":1}', 'interval', 60, 10, 'priority', 3, 'tags', '["t"]', 'retries', 2];
      expect(await client.call('recur', 100, ...recur)).toBe('r');
      expect(await client.call('jobs', 100, 'recurring', 'q')).toEqual(['r']);
      expect(await pop(client, 109)).toEqual([]);
      expect(await client.call('peek', 111, 'q', 10)).toMatchObject([{ jid: 'r-1' }]);
      expect(await pop(client, 111)).toEqual(['r-1']);
      expect(await get(client, 111, 'r-1')).toMatchObject({
        klass: 'Klass',
        data: '{"n":1}',
        priority: 3,
        tags: ['t'],
        retries: 2,
        spawned_from_jid: 'r',
      });
      await client.call('complete', 112, 'r-1', 'w', 'q', '{}');
      expect(await pop(client, 300)).toEqual(['r-2', 'r-3', 'r-4']);
      await expect(client.call('recur', 0, 'q', 's', 'Klass', '{}', 'cron', '* * * * *')).rejects.toThrow(
        'Recur(): schedule type "cron" unknown',
      );
    });

    test('qless recur backlog: at most so many are made up', async () => {
      const client = await qless();
      await client.call('recur', 0, 'q', 'r', 'Klass', '{}', 'interval', 60, 0, 'backlog', 2);
      expect(await pop(client, 0)).toEqual(['r-1']);
      await client.call('complete', 0, 'r-1', 'w', 'q', '{}');
      expect(await pop(client, 605)).toEqual(['r-2', 'r-3']);
      expect(await pop(client, 606)).toEqual([]);
    });

    test('qless unrecur, recur.get, recur.update, recur.tag, recur.untag: a rule is seen, changed and ended', async () => {
      const client = await qless();
      await client.call('recur', 0, 'q', 'r', 'Klass', '{}', 'interval', 60, 0, 'tags', '["t"]');
      await pop(client, 0);
      const rule = { jid: 'r', klass: 'Klass', state: 'recur', queue: 'q', priority: 0, interval: 60, retries: 0 };
      expect(await client.call('recur.get', 0, 'r')).toEqual({
        ...rule,
        count: 1,
        data: '{}',
        tags: ['t'],
        backlog: 0,
      });
      await client.call('recur.update', 1, 'r', 'priority', 4, 'interval', 120, 'klass', 'Other', 'queue', 'second');
      expect(await client.call('recur.get', 1, 'r')).toMatchObject({
        priority: 4,
        interval: 120,
        klass: 'Other',
        queue: 'second',
      });
      expect(await client.call('recur.tag', 1, 'r', 'u')).toEqual(['t', 'u']);
      expect(await client.call('recur.untag', 1, 'r', 't')).toEqual(['u']);
      expect(await client.call('unrecur', 1, 'r')).toBe(true);
      expect(await client.call('recur.get', 1, 'r')).toBeNull();
      await expect(client.call('recur.update', 1, 'r', 'priority', 1)).rejects.toThrow('No recurring job r');
      expect(await client.call('pop', 500, 'second', 'w', 1)).toEqual([]);
    });
  },
  { clock: 'caller' },
);
