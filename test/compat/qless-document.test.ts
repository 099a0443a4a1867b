/** The methods of qless's first document, and its events, each named after it, over every store. */
import { expect, test } from 'vitest';
import type { Qless } from '../../src/compat/qless/index.ts';
import { openQless } from '../../src/compat/qless/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { overStores } from './over-stores.ts';

overStores(
  'qless document',
  (open) => {
    let now = 0;
    const qless = async (): Promise<Qless> => openQless((await open()).store, { clock: () => now });
    /** What another connection hears on a channel. */
    const heard = async (...channels: string[]): Promise<string[]> => {
      const messages: string[] = [];
      const client = await qless();
      for (const channel of channels)
        client.subscribe(channel, (message) =>
          messages.push(channel === 'log' || channel.startsWith('w:') ? message : `${channel} ${message}`),
        );
      await client.call('queues', 0);
      return messages;
    };
    const all = (messages: string[], ...wanted: string[]) =>
      waitFor(wanted.join(', '), async () => wanted.every((each) => messages.includes(each)) || null);
    const put = (client: Qless, at: number, jid: string, queue = 'q') =>
      client.call('put', at, '', queue, jid, 'Klass', '{}', 0);

    test('qless Put, Get: a job and its history in the shape of the document', async () => {
      const client = await qless();
      expect(await client.put('test1', 'deadbeef', '{"hello": "how are you"}', 100, 5, '["testing"]')).toBe('deadbeef');
      now = 100;
      expect(await client.get('deadbeef')).toEqual({
        id: 'deadbeef',
        priority: 5,
        data: '{"hello": "how are you"}',
        tags: '["testing"]',
        worker: '',
        expires: 0,
        state: 'waiting',
        queue: 'test1',
        history: [['test1', 100, null, null, null]],
      });
      expect(await client.get('none')).toBeNull();
      await expect(client.put('test1', 'a', '{no', 0)).rejects.toThrow('JSON');
    });

    test('qless Put priority: a lower number is run first, and the final API shows the opposite number', async () => {
      const client = await qless();
      await client.put('q', 'later', '{}', 0, 1);
      await client.put('q', 'none', '{}', 0);
      await client.put('q', 'sooner', '{}', 0, -1);
      expect((await client.pop('q', 'w', 3, 1, 61)).map(({ id }) => id)).toEqual(['sooner', 'none', 'later']);
      expect(await client.call('get', 1, 'sooner')).toMatchObject({ priority: 1 });
    });

    test('qless Pop, Peek: under the expiration that the caller names, running is pending; expired locks go first', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', 0);
      await client.put('q', 'b', '{}', 0, 0, [], 50);
      expect((await client.peek('q', 5, 0)).map(({ id }) => id)).toEqual(['a']);
      const [job] = await client.pop('q', 'first', 1, 1, 31);
      expect(job).toMatchObject({ id: 'a', state: 'pending', worker: 'first', expires: 31 });
      expect(await client.pop('q', 'second', 5, 30, 100)).toEqual([]);
      expect((await client.peek('q', 5, 31)).map(({ id }) => id)).toEqual(['a']);
      await client.put('q', 'urgent', '{}', 41, -9);
      expect((await client.pop('q', 'second', 5, 60, 100)).map(({ id }) => id)).toEqual(['a', 'urgent', 'b']);
      await expect(client.pop('q', 'second', 5, 60, 60)).rejects.toThrow('must be later than now');
    });

    test('qless Pop: an expired lock is handed out at once, and however often it expires', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', 0);
      for (let at = 0; at < 120; at += 10) expect(await client.pop('q', `w${at}`, 1, at, at + 10)).toHaveLength(1);
    });

    test('qless Put, Pop: every number may be a text', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', '0', '5', '[1, "two"]', '10');
      expect(await client.pop('q', 'w', '1', '9', '60')).toEqual([]);
      const [job] = await client.pop('q', 'w', '1', '10', '60');
      expect(job).toMatchObject({ priority: 5, tags: '["1","two"]', expires: 60 });
      now = 11;
      expect(await client.heartbeat('a', 'w', '70')).toBe(70);
      expect(await client.complete('a', '{}', 'next', '5')).toBe('scheduled');
    });

    test('qless Heartbeat: the new expiration, or false when the lock expired or the job was given away', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', 0);
      await client.pop('q', 'first', 1, 0, 60);
      now = 30;
      expect(await client.heartbeat('a', 'first', 95, '{"half":1}')).toBe(95);
      expect(await client.get('a')).toMatchObject({ expires: 95, data: '{"half":1}' });
      now = 95;
      expect(await client.heartbeat('a', 'first', 150)).toBe(false);
      await client.pop('q', 'second', 1, 95, 200);
      now = 106;
      expect(await client.heartbeat('a', 'first', 150)).toBe(false);
      expect(await client.complete('a', '{}', undefined, undefined, 'first')).toBe(false);
      await client.put('other', 'a', '{}', 107);
      expect(await client.heartbeat('a', 'second', 300)).toBe(false);
    });

    test('qless Complete: without a worker for the object that popped the job; with a queue it goes on there', async () => {
      const client = await qless();
      await client.put('test1', 'a', '{}', 10);
      await client.pop('test1', 'w1', 1, 20, 80);
      now = 30;
      expect(await client.complete('a', '{"one":1}', 'test2', 5)).toBe('scheduled');
      await client.pop('test2', 'w2', 1, 40, 100);
      now = 50;
      expect(await client.complete('a')).toBe('complete');
      expect(await client.get('a')).toMatchObject({
        state: 'complete',
        queue: null,
        data: '{"one":1}',
        history: [
          ['test1', 10, 20, 30, 'w1'],
          ['test2', 30, 40, 50, 'w2'],
        ],
      });
      expect(await client.complete('a')).toBe(false);
    });

    test('qless Complete: false for the previous holder, and for an object that never popped the job', async () => {
      const [first, second, other] = [await qless(), await qless(), await qless()];
      await first.put('q', 'a', '{}', 0);
      await first.pop('q', 'w1', 1, 0, 10);
      await second.pop('q', 'w2', 1, 20, 100);
      now = 30;
      expect(await first.complete('a')).toBe(false);
      expect(await first.fail('a', 'type', 'message', 30)).toBe(false);
      expect(await other.complete('a')).toBe(false);
      expect(await other.get('a')).toMatchObject({ state: 'pending', worker: 'w2' });
      expect(await second.complete('a')).toBe('complete');
    });

    test('qless Fail: kept by its type, or false when it is not pending', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', 0);
      expect(await client.fail('a', 'upload error', 'traceback', 1)).toBe(false);
      await client.pop('q', 'w', 1, 1, 60);
      expect(await client.fail('a', 'upload error', 'traceback', 2)).toBe('a');
      expect(await client.call('failed', 3)).toEqual({ 'upload error': 1 });
    });

    test('qless Stats: one object, with the histogram of the document', async () => {
      const client = await qless();
      await client.put('q', 'a', '{}', 0);
      await client.pop('q', 'w', 1, 4_000, 9_000);
      now = 4_002.5;
      await client.complete('a');
      const stats = await client.stats('q', 0);
      expect(stats).toMatchObject({ total: 1, mean: 2.5, variance: 0 });
      expect(stats.histogram.findIndex((count) => count > 0)).toBe(2);
      expect(await client.stats('q', '1970-01-01')).toEqual(stats);
      expect(await client.stats('q', '4000')).toEqual(stats);
      expect(await client.stats('q')).toEqual(stats);
      for (const date of ['1970-13-01', 'today', -1, 1e300])
        await expect(client.stats('q', date)).rejects.toThrow('Stats(): Arg "date"');
      const waited = await client.stats('q', 0, 'wait');
      expect(waited.histogram.findIndex((count) => count > 0)).toBe(60 + 59 + Math.floor((4_000 - 3_600) / 900));
    });

    test('qless SetConfig, GetConfig: options with the defaults of the document', async () => {
      const client = await qless();
      expect(await client.getConfig()).toMatchObject({
        heartbeat: 60,
        'stats-history': 30,
        'histogram-history': 7,
        'jobs-history-count': 50_000,
        'jobs-history': 7,
      });
      await client.setConfig('jobs-history', 3);
      expect(await client.getConfig('jobs-history')).toBe(3);
      expect(await client.call('config.get', 0, 'jobs-history')).toBe(3 * 86_400);
      await client.setConfig('jobs-history');
      expect(await client.getConfig('jobs-history')).toBe(7);
      expect(await client.getConfig('unheard-of')).toBeNull();
    });

    test('qless events put, popped, completed, failed, canceled: told of tracked jobs, and of no others', async () => {
      const client = await qless();
      for (const jid of ['a', 'b', 'c', 'other']) await put(client, 0, jid);
      const messages = await heard('track', 'untrack', 'put', 'popped', 'completed', 'failed', 'canceled');
      for (const jid of ['a', 'b', 'c']) await client.call('track', 0, 'track', jid);
      await client.call('pop', 1, 'q', 'w', 10);
      await client.call('complete', 2, 'a', 'w', 'q', '{}');
      await client.call('complete', 2, 'other', 'w', 'q', '{}');
      await client.call('fail', 2, 'b', 'w', 'g', 'm');
      await client.call('cancel', 3, 'c');
      await put(client, 4, 'a');
      await all(messages, 'track a', 'popped a', 'popped b', 'completed a', 'failed b', 'canceled c', 'put a');
      expect(messages.some((each) => each.endsWith('other'))).toBe(false);
    });

    test('qless events track, untrack: told as they happen', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      const messages = await heard('track', 'untrack');
      await client.call('track', 0, 'track', 'a');
      await client.call('track', 0, 'untrack', 'a');
      await all(messages, 'track a', 'untrack a');
      expect(messages).toEqual(['track a', 'untrack a']);
    });

    test('qless events completed, untrack: what happened while a job was tracked is told, however soon it no longer is', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await client.call('track', 0, 'track', 'a');
      const messages = await heard('popped', 'completed', 'untrack');
      await client.call('pop', 0, 'q', 'w', 1);
      await client.call('complete', 1, 'a', 'w', 'q', '{}');
      await client.call('track', 1, 'untrack', 'a');
      await all(messages, 'untrack a');
      expect(messages).toEqual(['popped a', 'completed a', 'untrack a']);
    });

    test('qless events stalled, w:<worker>: a worker is told when its lock is lost and when its job is canceled', async () => {
      const client = await qless();
      for (const jid of ['a', 'b', 'c', 'd']) await put(client, 0, jid);
      await client.call('track', 0, 'track', 'a');
      await client.call('pop', 0, 'q', 'w', 4);
      const messages = await heard('stalled', 'w:w');
      await client.call('heartbeat', 60, 'b', 'w');
      await client.call('heartbeat', 60, 'c', 'w');
      await client.call('heartbeat', 60, 'd', 'w');
      await client.call('pop', 61, 'q', 'x', 1);
      await client.call('pop', 71, 'q', 'x', 1);
      await put(client, 72, 'b', 'elsewhere');
      await client.call('timeout', 72, 'c');
      await client.call('cancel', 72, 'd');
      const lost = (jid: string) => JSON.stringify({ jid, event: 'lock_lost', worker: 'w' });
      const canceled = JSON.stringify({ jid: 'd', queue: 'q', event: 'canceled', worker: 'w' });
      await all(messages, 'stalled a', lost('a'), lost('b'), lost('c'), canceled);
    });

    test('qless events stalled, w:<worker>: a worker is told once when its lock runs out, and has the grace period left', async () => {
      const client = await qless();
      await put(client, 0, 'a');
      await client.call('track', 0, 'track', 'a');
      await client.call('pop', 0, 'q', 'w', 1);
      const messages = await heard('stalled', 'popped', 'w:w');
      for (const at of [61, 62, 70]) expect(await client.call('pop', at, 'q', 'x', 1)).toEqual([]);
      await all(messages, 'stalled a', JSON.stringify({ jid: 'a', event: 'lock_lost', worker: 'w' }));
      expect(await client.call('pop', 71, 'q', 'x', 1)).toMatchObject([{ jid: 'a', worker: 'x' }]);
      await all(messages, 'popped a');
      expect(messages).toHaveLength(3);
      expect(await client.call('get', 71, 'a')).toMatchObject({
        history: [
          { what: 'put' },
          { what: 'popped', worker: 'w' },
          { when: 61, what: 'timed-out' },
          { when: 71, what: 'popped', worker: 'x' },
        ],
      });
    });

    test('qless events log: puts, ends and the configuration, as JSON; a pattern hears several channels', async () => {
      const client = await qless();
      const messages = await heard('log');
      const all: string[] = [];
      client.subscribe('[lw]*', (message, channel) => all.push(`${channel} ${message}`));
      await put(client, 0, 'a');
      await client.call('pop', 1, 'q', 'w', 1);
      await client.call('complete', 2, 'a', 'w', 'q', '{}', 'next', 'n');
      await client.call('pop', 3, 'n', 'w', 1);
      await client.call('timeout', 4, 'a');
      await waitFor('the last event', async () => (all.length >= 4 && messages.length >= 3) || null);
      expect(messages).toEqual([
        '{"jid":"a","event":"put","queue":"q"}',
        '{"jid":"a","to":"n","event":"advanced","queue":"q"}',
        '{"jid":"a","event":"lock_lost","worker":"w"}',
      ]);
      expect(all[2]).toBe('w:w {"jid":"a","event":"lock_lost","worker":"w"}');
    });
  },
  { clock: 'caller' },
);
