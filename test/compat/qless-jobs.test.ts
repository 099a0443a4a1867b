/** qless's commands about one job, each named after it, over every store. */
import { expect, test } from 'vitest';
import type { Qless } from '../../src/compat/qless/index.ts';
import { openQless } from '../../src/compat/qless/index.ts';
import { connect } from '../../src/library/index.ts';
import { overStores } from './over-stores.ts';

interface Seen {
  readonly [field: string]: unknown;
  readonly jid: string;
}

test('qless now: a store that goes by its own clock is refused', async () => {
  await using longhaul = await connect('memory:');
  await expect(openQless(longhaul.store).call('get', 0, 'a')).rejects.toThrow("clock: 'caller'");
});

overStores(
  'qless jobs',
  (open) => {
    const qless = async (): Promise<Qless> => openQless((await open()).store);
    const put = (client: Qless, now: number, jid: string, ...options: unknown[]) =>
      client.call('put', now, '', 'q', jid, 'Klass', '{"a":1}', 0, ...options);
    const get = async (client: Qless, now: number, jid: string) => (await client.call('get', now, jid)) as Seen;
    const pop = async (client: Qless, now: number, worker = 'w', count = 10) =>
      (await client.call('pop', now, 'q', worker, count)) as readonly Seen[];
    const popped = async (client: Qless, now: number, worker = 'w') =>
      (await pop(client, now, worker)).map(({ jid }) => jid);

    test('qless put: a job as it was put, with its defaults, in its own words', async () => {
      const client = await qless();
      expect(await client.call('put', 10, 'w', 'q', 'a', 'Klass', '{"a": 1}', 0, 'tags', '["x"]')).toBe('a');
      expect(await get(client, 10, 'a')).toEqual({
        jid: 'a',
        klass: 'Klass',
        state: 'waiting',
        queue: 'q',
        worker: '',
        tracked: false,
        priority: 0,
        expires: 0,
        retries: 5,
        remaining: 5,
        data: '{"a": 1}',
        tags: ['x'],
        history: [{ when: 10, what: 'put', q: 'q' }],
        failure: {},
        spawned_from_jid: false,
        dependents: [],
        dependencies: [],
      });
      await client.call('put', 10, '', 'q', 'b', 'Klass', '{}', 5);
      expect((await get(client, 10, 'b'))['state']).toBe('scheduled');
      expect(await popped(client, 14)).toEqual(['a']);
      expect(await popped(client, 15)).toEqual(['b']);
    });

    test('qless put: arguments that are wrong are told with their names', async () => {
      const client = await qless();
      await expect(client.call('put', 0, '', 'q', 'a', 'Klass', '{no', 0)).rejects.toThrow(
        'Put(): Arg "data" missing or not JSON',
      );
      await expect(client.call('put', 0, '', 'q', 'a', 'Klass', '{}', 'soon')).rejects.toThrow(
        'Put(): Arg "delay" missing or not a number',
      );
      await expect(put(client, 0, 'a', 'priority')).rejects.toThrow('Odd number of additional args');
      await expect(put(client, 0, 'a', 'urgency', 1)).rejects.toThrow('Unknown option "urgency"');
      await expect(client.call('put', 0, '', 'q')).rejects.toThrow('Put(): Arg "jid" missing');
      await expect(client.call('shout', 0)).rejects.toThrow('Unknown command shout');
      expect(await client.call('get', 0, 'a')).toBeNull();
    });

    test('qless bad input: is told in words, and nothing of it is kept', async () => {
      const client = await qless();
      const says = (words: string, command: string, ...args: unknown[]) =>
        expect(client.call(command, 0, ...args)).rejects.toThrow(words);
      await says('Pop(): Arg "count" must be a whole number from 0: 1.5', 'pop', 'q', 'w', 1.5);
      await says('queue name', 'pop', 'no queue', 'w', 1);
      await says('queue name', 'queues', '../q');
      await says('jid', 'put', '', 'q', 'no id', 'Klass', '{}', 0);
      await says('Put(): Arg "delay" is too long', 'put', '', 'q', 'a', 'Klass', '{}', 1e15);
      await says('more than 262144 bytes', 'put', '', 'q', 'a', 'Klass', JSON.stringify('x'.repeat(262_144)), 0);
      await says('tags', 'put', '', 'q', 'a', 'Klass', '{}', 0, 'tags', '{"a":1}');
      await says('priority', 'put', '', 'q', 'a', 'Klass', '{}', 0, 'priority', 1e12);
      await says('must be at least a second', 'recur', 'q', 'r', 'Klass', '{}', 'interval', 0.5, 0);
      await says('Unknown command constructor', 'constructor');
      await expect(client.call('pop', Number.NaN, 'q', 'w', 1)).rejects.toThrow('Arg "now" missing or not a number');
      expect([await client.call('get', 0, '@clock'), await client.call('get', 0, 'no id')]).toEqual([null, null]);
      await put(client, 0, 'a');
      await says('more than 4096 characters', 'log', 'a', 'x'.repeat(5_000));
      expect((await get(client, 0, 'a'))['history']).toHaveLength(1);
    });

    test('qless put: an existing job moves and starts anew, and its worker has lost it', async () => {
      const client = await qless();
      await put(client, 0, 'a', 'retries', 3);
      await pop(client, 1);
      await client.call('retry', 2, 'a', 'q', 'w');
      await pop(client, 3);
      await client.call('put', 4, 'other', 'next', 'a', 'Other', '{"b":2}', 0, 'priority', 7);
      await expect(client.call('complete', 5, 'a', 'w', 'q', '{}')).rejects.toThrow(
        'Complete(): Job a is not currently running: waiting',
      );
      expect(await get(client, 5, 'a')).toMatchObject({
        state: 'waiting',
        queue: 'next',
        klass: 'Other',
        data: '{"b":2}',
        priority: 7,
        retries: 3,
        remaining: 3,
        worker: '',
      });
      expect((await get(client, 5, 'a'))['history']).toEqual([
        { when: 0, what: 'put', q: 'q' },
        { when: 1, what: 'popped', worker: 'w' },
        { when: 3, what: 'popped', worker: 'w' },
        { when: 4, what: 'put', q: 'next' },
      ]);
    });

    test('qless put: all or nothing: what is refused leaves an existing job as it was', async () => {
      const client = await qless();
      await put(client, 0, 'a', 'tags', '["x"]');
      await put(client, 0, 'child', 'depends', '["a"]');
      await pop(client, 1, 'w', 1);
      const before = await get(client, 2, 'a');
      for (const [problem, ...options] of [
        ['which waits for it', 'depends', '["child"]'],
        ['wait for itself', 'depends', '["a"]'],
        ['tags', 'tags', '[""]'],
        ['retries', 'retries', '-1'],
        ['throttles', 'throttles', '["no name"]'],
      ])
        await expect(client.call('put', 2, 'x', 'other', 'a', 'Klass', '{}', 0, ...options)).rejects.toThrow(problem);
      expect(await get(client, 2, 'a')).toEqual(before);
      expect(await client.call('complete', 3, 'a', 'w', 'q', '{}')).toBe('complete');
    });

    test('qless put: other retries and throttles replace the job, with its history; a process that dies in between is no loss', async () => {
      const longhaul = await open();
      const client = openQless(longhaul.store);
      await put(client, 0, 'a', 'retries', 2, 'tags', '["x"]', 'priority', 3);
      await pop(client, 1);
      await put(client, 2, 'a', 'retries', 7);
      const after = { retries: 7, remaining: 7, tags: ['x'], priority: 3, state: 'waiting', worker: '' };
      const history = [{ what: 'put' }, { what: 'popped' }, { what: 'put', when: 2 }];
      expect(await get(client, 2, 'a')).toMatchObject({ ...after, history });
      const { jobs, records } = longhaul.store;
      const [job] = await jobs.find(['a'], { now: 3_000 });
      const next = { id: 'a', queue: 'q', data: '{}', policy: { retries: 9 } };
      const value = JSON.stringify({ job: next, by: '', seq: job?.seq, past: [] });
      await records.put({ kind: 'qless-put', key: 'a', value }, { now: 3_000 });
      await jobs.delete(['a'], { now: 3_000 });
      expect(await get(openQless(longhaul.store), 4, 'a')).toMatchObject({ retries: 9, state: 'waiting' });
      expect(await records.get('qless-put', 'a', { now: 4_000 })).toBeNull();
    });

    test('qless requeue: as put, for a job that exists', async () => {
      const client = await qless();
      await expect(client.call('requeue', 0, 'w', 'q', 'a', 'Klass', '{}', 0)).rejects.toThrow(
        'Requeue(): Job a does not exist',
      );
      await put(client, 0, 'a');
      await pop(client, 1);
      await client.call('complete', 2, 'a', 'w', 'q', '{}');
      expect(await client.call('requeue', 3, 'w', 'again', 'a', 'Klass', '{}', 0)).toBe('a');
      expect(await get(client, 3, 'a')).toMatchObject({ state: 'waiting', queue: 'again' });
    });

    test('qless priority direction: a higher number is more urgent, in put and in priority', async () => {
      const client = await qless();
      await put(client, 0, 'low', 'priority', -1);
      await put(client, 0, 'none');
      await put(client, 0, 'high', 'priority', 10);
      await put(client, 0, 'raised');
      expect(await client.call('priority', 0, 'raised', 20)).toBe(20);
      expect((await get(client, 0, 'raised'))['priority']).toBe(20);
      expect(await popped(client, 1)).toEqual(['raised', 'high', 'none', 'low']);
      await expect(client.call('priority', 0, 'gone', 1)).rejects.toThrow('Priority(): Job gone does not exist');
    });

    test('qless complete: done, and only by its worker in its queue', async () => {
      const client = await qless();
      await expect(client.call('complete', 0, 'a', 'w', 'q', '{}')).rejects.toThrow('Complete(): Job a does not exist');
      await put(client, 0, 'a');
      await pop(client, 1);
      const by = (worker: string, queue: string) => client.call('complete', 2, 'a', worker, queue, '{"done":true}');
      await expect(by('other', 'q')).rejects.toThrow('Complete(): Job a has been handed out to another worker: w');
      await expect(by('w', 'r')).rejects.toThrow('Complete(): Job a running in another queue: q');
      expect(await by('w', 'q')).toBe('complete');
      expect(await get(client, 2, 'a')).toMatchObject({
        state: 'complete',
        queue: '',
        worker: '',
        data: '{"done":true}',
        history: [{ what: 'put' }, { what: 'popped' }, { when: 2, what: 'done' }],
      });
    });

    test('qless complete: with next, delay and depends it goes on to another queue, its retries whole again', async () => {
      const client = await qless();
      for (const jid of ['a', 'b', 'c', 'parent']) await put(client, 0, jid);
      await pop(client, 1, 'w', 3);
      const next = (jid: string, ...more: unknown[]) =>
        client.call('complete', 2, jid, 'w', 'q', '{}', 'next', 'n', ...more);
      expect(await next('a')).toBe('waiting');
      expect(await next('b', 'delay', 60)).toBe('scheduled');
      expect((await get(client, 2, 'b'))['state']).toBe('scheduled');
      expect(await next('c', 'depends', '["parent"]')).toBe('depends');
      expect(await get(client, 2, 'c')).toMatchObject({ state: 'depends', dependencies: ['parent'], remaining: 5 });
      expect((await get(client, 2, 'a'))['history']).toEqual([
        { when: 0, what: 'put', q: 'q' },
        { when: 1, what: 'popped', worker: 'w' },
        { when: 2, what: 'done' },
        { when: 2, what: 'put', q: 'n' },
      ]);
      await pop(client, 3);
      await expect(client.call('complete', 4, 'parent', 'w', 'q', '{}', 'delay', 5)).rejects.toThrow(
        'Complete(): "delay" cannot be used without a "next".',
      );
    });

    test('qless fail: failed in its group, with a message, at once and whatever retries are left', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await expect(client.call('fail', 1, 'a', 'w', 'g', 'm')).rejects.toThrow(
        'Fail(): Job a not currently running: waiting',
      );
      await pop(client, 1);
      await expect(client.call('fail', 2, 'a', 'x', 'g', 'm')).rejects.toThrow(
        'Fail(): Job a running with another worker: w',
      );
      expect(await client.call('fail', 2, 'a', 'w', 'group', 'message', '{"seen":1}')).toBe('a');
      expect(await get(client, 3, 'a')).toMatchObject({
        state: 'failed',
        remaining: 5,
        data: '{"seen":1}',
        failure: { group: 'group', message: 'message', when: 2, worker: 'w' },
        history: [{ what: 'put' }, { what: 'popped' }, { when: 2, what: 'failed', worker: 'w', group: 'group' }],
      });
    });

    test('qless retry: counts down, and fails in failed-retries-<queue> or in the group that is said', async () => {
      const client = await qless();
      await put(client, 0, 'a', 'retries', 1);
      await put(client, 0, 'b', 'retries', 0);
      await pop(client, 1);
      expect(await client.call('retry', 2, 'a', 'q', 'w', 5)).toBe(0);
      expect(await get(client, 2, 'a')).toMatchObject({ state: 'scheduled', remaining: 0, failure: {} });
      expect(await popped(client, 7)).toEqual(['a']);
      await expect(client.call('retry', 8, 'a', 'q', 'x')).rejects.toThrow(
        'Retry(): Job a has been given to another worker: w',
      );
      expect(await client.call('retry', 8, 'a', 'q', 'w')).toBe(-1);
      const words = 'Job exhausted retries in queue "q"';
      expect(await get(client, 8, 'a')).toMatchObject({
        state: 'failed',
        failure: { group: 'failed-retries-q', message: words, when: 8, worker: '' },
      });
      expect(await client.call('retry', 8, 'b', 'q', 'w', 0, 'own', 'why')).toBe(-1);
      expect(await get(client, 8, 'b')).toMatchObject({ failure: { group: 'own', message: 'why' } });
    });

    test('qless heartbeat: gives the new expiration and takes new data, from its worker alone', async () => {
      const client = await qless();
      await expect(client.call('heartbeat', 0, 'a', 'w')).rejects.toThrow('Heartbeat(): Job a does not exist');
      await put(client, 0, 'a');
      await expect(client.call('heartbeat', 0, 'a', 'w')).rejects.toThrow(
        'Heartbeat(): Job a not currently running: waiting',
      );
      const [job] = await pop(client, 1);
      expect(job).toMatchObject({ state: 'running', worker: 'w', expires: 61 });
      expect(await client.call('heartbeat', 30, 'a', 'w', '{"half":true}')).toBe(90);
      expect(await get(client, 30, 'a')).toMatchObject({ data: '{"half":true}', expires: 90 });
      await expect(client.call('heartbeat', 31, 'a', 'x')).rejects.toThrow(
        'Heartbeat(): Job a given out to another worker: w',
      );
      await expect(client.call('heartbeat', 31, 'a', '')).rejects.toThrow('another worker: w');
      await expect(client.call('heartbeat', 31, 'a')).rejects.toThrow('Arg "worker" missing');
    });

    test('qless grace-period: a pop that finds an expired lock starts the grace period; the next one after it gets the job', async () => {
      const client = await qless();
      await put(client, 0, 'a', 'retries', 1);
      await put(client, 0, 'later');
      expect(await popped(client, 0, 'first')).toEqual(['a', 'later']);
      await client.call('heartbeat', 59, 'later', 'first');
      expect((await get(client, 65, 'a'))['state']).toBe('running');
      expect(await popped(client, 65, 'second')).toEqual([]);
      expect(await popped(client, 74.999, 'second')).toEqual([]);
      expect(await get(client, 74, 'a')).toMatchObject({ worker: 'first', expires: 60 });
      expect(await popped(client, 75, 'second')).toEqual(['a']);
      expect(await get(client, 75, 'a')).toMatchObject({
        state: 'running',
        worker: 'second',
        remaining: 0,
        expires: 135,
      });
      await expect(client.call('complete', 76, 'a', 'first', 'q', '{}')).rejects.toThrow('another worker: second');
      await client.call('heartbeat', 110, 'later', 'first');
      expect(await popped(client, 140, 'third')).toEqual([]);
      expect(await popped(client, 150, 'third')).toEqual([]);
      expect(await get(client, 150, 'a')).toMatchObject({
        state: 'failed',
        failure: { group: 'failed-retries-q', message: 'Job exhausted retries in queue "q"', worker: '' },
      });
    });

    test('qless grace-period: a worker of Longhaul itself takes the job back too, some minutes later', async () => {
      const longhaul = await open();
      const client = openQless(longhaul.store);
      await put(client, 0, 'a');
      await pop(client, 0, 'w', 1);
      const claim = async (at: number) => {
        const request = { worker: 'own', queues: ['q'], limit: 1, requestId: `at ${at}` };
        return (await longhaul.store.jobs.claim(request, { now: at * 1_000 })).jobs.map(({ id }) => id);
      };
      expect(await claim(369)).toEqual([]);
      expect(await claim(370)).toEqual(['a']);
    });

    test('qless grace-period: within it the old worker can still say how it went', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await pop(client, 0);
      expect(await popped(client, 65, 'second')).toEqual([]);
      expect(await client.call('fail', 66, 'a', 'w', 'slow', 'took too long')).toBe('a');
    });

    test('qless timeout: takes a job from its worker, and it is the next to be popped', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await put(client, 0, 'b', 'priority', 9);
      await pop(client, 1);
      await client.call('timeout', 2, 'a');
      expect(await get(client, 2, 'a')).toMatchObject({ state: 'stalled', worker: '', remaining: 5 });
      await put(client, 2, 'c', 'priority', 9);
      expect(await popped(client, 3)).toEqual(['a', 'c']);
      await expect(client.call('timeout', 4, 'none')).rejects.toThrow('Timeout(): Job none does not exist');
      await put(client, 4, 'd');
      await expect(client.call('timeout', 4, 'd')).rejects.toThrow('Timeout(): Job d not running');
    });

    test('qless cancel: a job is gone, also from under its worker; dependents must be named too', async () => {
      const client = await qless();
      for (const jid of ['waiting', 'running', 'failed']) await put(client, 0, jid);
      await put(client, 0, 'child', 'depends', '["waiting"]');
      await expect(client.call('cancel', 1, 'waiting')).rejects.toThrow(
        'Cancel(): waiting is a dependency of child but is not mentioned to be canceled',
      );
      await client.call('priority', 0, 'waiting', -1);
      await pop(client, 1, 'w', 2);
      await client.call('fail', 1, 'failed', 'w', 'g', 'm');
      const jids = ['waiting', 'running', 'failed', 'child'];
      expect(await client.call('cancel', 2, ...jids)).toEqual(jids);
      for (const jid of jids) expect(await client.call('get', 2, jid)).toBeNull();
      await expect(client.call('heartbeat', 3, 'running', 'w')).rejects.toThrow(
        'Heartbeat(): Job running does not exist',
      );
      await put(client, 4, 'running');
      expect(await get(client, 4, 'running')).toMatchObject({ state: 'waiting', history: [{ when: 4, what: 'put' }] });
    });

    test('qless depends: a job waits for others, and is told to wait for more or for fewer', async () => {
      const client = await qless();
      for (const jid of ['a', 'b', 'c']) await put(client, 0, jid);
      await put(client, 0, 'child', 'depends', '["a","b","never-put"]');
      expect(await get(client, 0, 'child')).toMatchObject({ state: 'depends', dependencies: ['b', 'a'] });
      expect((await get(client, 0, 'a'))['dependents']).toEqual(['child']);
      expect(await popped(client, 1)).toEqual(['a', 'b', 'c']);
      await client.call('complete', 2, 'a', 'w', 'q', '{}');
      expect(await client.call('depends', 2, 'child', 'on', 'c')).toBe(true);
      expect(await client.call('depends', 2, 'child', 'off', 'b')).toBe(true);
      expect((await get(client, 2, 'child'))['dependencies']).toEqual(['c']);
      expect(await client.call('depends', 2, 'child', 'off', 'all')).toBe(true);
      expect(await popped(client, 3)).toEqual(['child']);
      await expect(client.call('depends', 3, 'child', 'on', 'c')).rejects.toThrow(
        'Depends(): Job child not in the depends state: running',
      );
    });

    test('qless log: words of a worker stand in the history', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await client.call('log', 5, 'a', 'looked at it', '{"found":3}');
      await client.call('log', 6, 'a', 'track', '{"from":"elsewhere","when":1}');
      expect((await get(client, 5, 'a'))['history']).toEqual([
        { when: 0, what: 'put', q: 'q' },
        { when: 5, what: 'looked at it', found: 3 },
        { when: 6, what: 'track', from: 'elsewhere' },
      ]);
      await expect(client.call('log', 5, 'none', 'x')).rejects.toThrow('Log(): Job none does not exist');
    });
  },
  { clock: 'caller' },
);
