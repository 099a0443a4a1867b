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
      const door = await qless();
      for (const channel of channels)
        door.subscribe(channel, (message) =>
          messages.push(channel === 'log' || channel.startsWith('w:') ? message : `${channel} ${message}`),
        );
      await door.call('queues', 0);
      return messages;
    };
    const all = (messages: string[], ...wanted: string[]) =>
      waitFor(wanted.join(', '), async () => wanted.every((each) => messages.includes(each)) || null);
    const put = (door: Qless, at: number, jid: string, queue = 'q') =>
      door.call('put', at, '', queue, jid, 'Klass', '{}', 0);

    test('qless Put, Get: a job and its history in the shape of the document', async () => {
      const door = await qless();
      expect(await door.put('test1', 'deadbeef', '{"hello": "how are you"}', 100, 5, '["testing"]')).toBe('deadbeef');
      now = 100;
      expect(await door.get('deadbeef')).toEqual({
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
      expect(await door.get('none')).toBeNull();
      await expect(door.put('test1', 'a', '{no', 0)).rejects.toThrow('JSON');
    });

    test('qless Put priority: a lower number is run first, and the final API shows the opposite number', async () => {
      const door = await qless();
      await door.put('q', 'later', '{}', 0, 1);
      await door.put('q', 'none', '{}', 0);
      await door.put('q', 'sooner', '{}', 0, -1);
      expect((await door.pop('q', 'w', 3, 1, 61)).map(({ id }) => id)).toEqual(['sooner', 'none', 'later']);
      expect(await door.call('get', 1, 'sooner')).toMatchObject({ priority: 1 });
    });

    test('qless Pop, Peek: under the expiration that the caller names, running is pending; expired locks go first', async () => {
      const door = await qless();
      await door.put('q', 'a', '{}', 0);
      await door.put('q', 'b', '{}', 0, 0, [], 50);
      expect((await door.peek('q', 5, 0)).map(({ id }) => id)).toEqual(['a']);
      const [job] = await door.pop('q', 'first', 1, 1, 31);
      expect(job).toMatchObject({ id: 'a', state: 'pending', worker: 'first', expires: 31 });
      expect(await door.pop('q', 'second', 5, 30, 100)).toEqual([]);
      expect((await door.peek('q', 5, 31)).map(({ id }) => id)).toEqual(['a']);
      await door.put('q', 'urgent', '{}', 41, -9);
      expect((await door.pop('q', 'second', 5, 60, 100)).map(({ id }) => id)).toEqual(['a', 'urgent', 'b']);
      await expect(door.pop('q', 'second', 5, 60, 60)).rejects.toThrow('must be later than now');
    });

    test('qless Pop: an expired lock is handed out at once, and however often it expires', async () => {
      const door = await qless();
      await door.put('q', 'a', '{}', 0);
      for (let at = 0; at < 120; at += 10) expect(await door.pop('q', `w${at}`, 1, at, at + 10)).toHaveLength(1);
    });

    test('qless Put, Pop: every number may be a text', async () => {
      const door = await qless();
      await door.put('q', 'a', '{}', '0', '5', '[1, "two"]', '10');
      expect(await door.pop('q', 'w', '1', '9', '60')).toEqual([]);
      const [job] = await door.pop('q', 'w', '1', '10', '60');
      expect(job).toMatchObject({ priority: 5, tags: '["1","two"]', expires: 60 });
      now = 11;
      expect(await door.heartbeat('a', 'w', '70')).toBe(70);
      expect(await door.complete('a', '{}', 'next', '5')).toBe('scheduled');
    });

    test('qless Heartbeat: the new expiration, or false when the lock expired or the job was given away', async () => {
      const door = await qless();
      await door.put('q', 'a', '{}', 0);
      await door.pop('q', 'first', 1, 0, 60);
      now = 30;
      expect(await door.heartbeat('a', 'first', 95, '{"half":1}')).toBe(95);
      expect(await door.get('a')).toMatchObject({ expires: 95, data: '{"half":1}' });
      now = 95;
      expect(await door.heartbeat('a', 'first', 150)).toBe(false);
      await door.pop('q', 'second', 1, 95, 200);
      now = 106;
      expect(await door.heartbeat('a', 'first', 150)).toBe(false);
      expect(await door.complete('a', '{}', undefined, undefined, 'first')).toBe(false);
      await door.put('other', 'a', '{}', 107);
      expect(await door.heartbeat('a', 'second', 300)).toBe(false);
    });

    test('qless Complete: without a worker for the object that popped the job; with a queue it goes on there', async () => {
      const door = await qless();
      await door.put('test1', 'a', '{}', 10);
      await door.pop('test1', 'w1', 1, 20, 80);
      now = 30;
      expect(await door.complete('a', '{"one":1}', 'test2', 5)).toBe('scheduled');
      await door.pop('test2', 'w2', 1, 40, 100);
      now = 50;
      expect(await door.complete('a')).toBe('complete');
      expect(await door.get('a')).toMatchObject({
        state: 'complete',
        queue: null,
        data: '{"one":1}',
        history: [
          ['test1', 10, 20, 30, 'w1'],
          ['test2', 30, 40, 50, 'w2'],
        ],
      });
      expect(await door.complete('a')).toBe(false);
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
      const door = await qless();
      await door.put('q', 'a', '{}', 0);
      expect(await door.fail('a', 'upload error', 'traceback', 1)).toBe(false);
      await door.pop('q', 'w', 1, 1, 60);
      expect(await door.fail('a', 'upload error', 'traceback', 2)).toBe('a');
      expect(await door.call('failed', 3)).toEqual({ 'upload error': 1 });
    });

    test('qless Stats: one object, with the histogram of the document', async () => {
      const door = await qless();
      await door.put('q', 'a', '{}', 0);
      await door.pop('q', 'w', 1, 4_000, 9_000);
      now = 4_002.5;
      await door.complete('a');
      const stats = await door.stats('q', 0);
      expect(stats).toMatchObject({ total: 1, mean: 2.5, variance: 0 });
      expect(stats.histogram.findIndex((count) => count > 0)).toBe(2);
      expect(await door.stats('q', '1970-01-01')).toEqual(stats);
      expect(await door.stats('q', '4000')).toEqual(stats);
      expect(await door.stats('q')).toEqual(stats);
      for (const date of ['1970-13-01', 'today', -1, 1e300])
        await expect(door.stats('q', date)).rejects.toThrow('Stats(): Arg "date"');
      const waited = await door.stats('q', 0, 'wait');
      expect(waited.histogram.findIndex((count) => count > 0)).toBe(60 + 59 + Math.floor((4_000 - 3_600) / 900));
    });

    test('qless SetConfig, GetConfig: options with the defaults of the document', async () => {
      const door = await qless();
      expect(await door.getConfig()).toMatchObject({
        heartbeat: 60,
        'stats-history': 30,
        'histogram-history': 7,
        'jobs-history-count': 50_000,
        'jobs-history': 7,
      });
      await door.setConfig('jobs-history', 3);
      expect(await door.getConfig('jobs-history')).toBe(3);
      expect(await door.call('config.get', 0, 'jobs-history')).toBe(3 * 86_400);
      await door.setConfig('jobs-history');
      expect(await door.getConfig('jobs-history')).toBe(7);
      expect(await door.getConfig('unheard-of')).toBeNull();
    });

    test('qless events put, popped, completed, failed, canceled: told of tracked jobs, and of no others', async () => {
      const door = await qless();
      for (const jid of ['a', 'b', 'c', 'other']) await put(door, 0, jid);
      const messages = await heard('track', 'untrack', 'put', 'popped', 'completed', 'failed', 'canceled');
      for (const jid of ['a', 'b', 'c']) await door.call('track', 0, 'track', jid);
      await door.call('pop', 1, 'q', 'w', 10);
      await door.call('complete', 2, 'a', 'w', 'q', '{}');
      await door.call('complete', 2, 'other', 'w', 'q', '{}');
      await door.call('fail', 2, 'b', 'w', 'g', 'm');
      await door.call('cancel', 3, 'c');
      await put(door, 4, 'a');
      await all(messages, 'track a', 'popped a', 'popped b', 'completed a', 'failed b', 'canceled c', 'put a');
      expect(messages.some((each) => each.endsWith('other'))).toBe(false);
    });

    test('qless events track, untrack: told as they happen', async () => {
      const door = await qless();
      await put(door, 0, 'a');
      const messages = await heard('track', 'untrack');
      await door.call('track', 0, 'track', 'a');
      await door.call('track', 0, 'untrack', 'a');
      await all(messages, 'track a', 'untrack a');
      expect(messages).toEqual(['track a', 'untrack a']);
    });

    test('qless events completed, untrack: what happened while a job was tracked is told, however soon it no longer is', async () => {
      const door = await qless();
      await put(door, 0, 'a');
      await door.call('track', 0, 'track', 'a');
      const messages = await heard('popped', 'completed', 'untrack');
      await door.call('pop', 0, 'q', 'w', 1);
      await door.call('complete', 1, 'a', 'w', 'q', '{}');
      await door.call('track', 1, 'untrack', 'a');
      await all(messages, 'untrack a');
      expect(messages).toEqual(['popped a', 'completed a', 'untrack a']);
    });

    test('qless events stalled, w:<worker>: a worker is told when its lock is lost and when its job is canceled', async () => {
      const door = await qless();
      for (const jid of ['a', 'b', 'c', 'd']) await put(door, 0, jid);
      await door.call('track', 0, 'track', 'a');
      await door.call('pop', 0, 'q', 'w', 4);
      const messages = await heard('stalled', 'w:w');
      await door.call('heartbeat', 60, 'b', 'w');
      await door.call('heartbeat', 60, 'c', 'w');
      await door.call('heartbeat', 60, 'd', 'w');
      await door.call('pop', 61, 'q', 'x', 1);
      await door.call('pop', 71, 'q', 'x', 1);
      await put(door, 72, 'b', 'elsewhere');
      await door.call('timeout', 72, 'c');
      await door.call('cancel', 72, 'd');
      const lost = (jid: string) => JSON.stringify({ jid, event: 'lock_lost', worker: 'w' });
      const canceled = JSON.stringify({ jid: 'd', queue: 'q', event: 'canceled', worker: 'w' });
      await all(messages, 'stalled a', lost('a'), lost('b'), lost('c'), canceled);
    });

    test('qless events stalled, w:<worker>: a worker is told once when its lock runs out, and has the grace period left', async () => {
      const door = await qless();
      await put(door, 0, 'a');
      await door.call('track', 0, 'track', 'a');
      await door.call('pop', 0, 'q', 'w', 1);
      const messages = await heard('stalled', 'popped', 'w:w');
      for (const at of [61, 62, 70]) expect(await door.call('pop', at, 'q', 'x', 1)).toEqual([]);
      await all(messages, 'stalled a', JSON.stringify({ jid: 'a', event: 'lock_lost', worker: 'w' }));
      expect(await door.call('pop', 71, 'q', 'x', 1)).toMatchObject([{ jid: 'a', worker: 'x' }]);
      await all(messages, 'popped a');
      expect(messages).toHaveLength(3);
      expect(await door.call('get', 71, 'a')).toMatchObject({
        history: [
          { what: 'put' },
          { what: 'popped', worker: 'w' },
          { when: 61, what: 'timed-out' },
          { when: 71, what: 'popped', worker: 'x' },
        ],
      });
    });

    test('qless events log: puts, ends and the configuration, as JSON; a pattern hears several channels', async () => {
      const door = await qless();
      const messages = await heard('log');
      const all: string[] = [];
      door.subscribe('[lw]*', (message, channel) => all.push(`${channel} ${message}`));
      await put(door, 0, 'a');
      await door.call('pop', 1, 'q', 'w', 1);
      await door.call('complete', 2, 'a', 'w', 'q', '{}', 'next', 'n');
      await door.call('pop', 3, 'n', 'w', 1);
      await door.call('timeout', 4, 'a');
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
