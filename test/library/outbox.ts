/** What an outbox does over any database. Each adapter runs this suite. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Longhaul, Outbox, OutboxAddOptions, OutboxEvent, OutboxOptions } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';

type AnyOutbox = Pick<Outbox<never, void>, 'start' | 'close' | 'setup' | 'status' | 'failed' | 'retry' | 'sql'>;
export type Add = (queue: string, data: unknown, options?: OutboxAddOptions) => Promise<string>;

/** A fresh database with an outbox table. */
export interface OutboxDatabase {
  /** Opens the outbox for a store; several may be open. */
  outbox(longhaul: Longhaul, options: OutboxOptions): AnyOutbox;
  /** Runs `work` in a transaction, which is committed, or rolled back if `work` throws. */
  transaction(work: (add: Add) => Promise<void>): Promise<void>;
  /** Runs a statement as a program in another language would. */
  run(sql: string): Promise<void>;
  close(): Promise<void>;
}

export function outboxOver(name: string, open: () => Promise<OutboxDatabase>): void {
  describe(`an outbox over ${name}`, () => {
    let database: OutboxDatabase;
    let longhaul: Longhaul;
    let events: OutboxEvent[];

    beforeEach(async () => {
      [database, longhaul, events] = [await open(), await connect('memory:'), []];
    });
    afterEach(async () => {
      await longhaul.close();
      await database.close();
    });

    const start = (options: OutboxOptions = {}): AnyOutbox => {
      const outbox = database.outbox(longhaul, { poll: 20, onEvent: (event) => void events.push(event), ...options });
      outbox.start();
      return outbox;
    };
    const waiting = async (): Promise<readonly string[]> =>
      (await longhaul.queue('mail').peek(100)).map(({ id }) => id);
    const empty = async (outbox: AnyOutbox): Promise<void> => {
      await expect.poll(() => outbox.status()).toMatchObject({ waiting: 0 });
    };

    it('adds the job of a committed transaction, with its id and options', async () => {
      const outbox = start();
      await database.transaction(async (add) => {
        await add('mail', { to: 'ann' }, { id: 'm-1', priority: 3, tags: ['new'], name: 'Welcome' });
      });
      await empty(outbox);
      expect(await longhaul.find('m-1')).toMatchObject({
        state: 'waiting',
        queue: 'mail',
        data: { to: 'ann' },
        priority: 3,
        tags: ['new'],
        name: 'Welcome',
      });
    });

    it('adds nothing for a transaction that is rolled back', async () => {
      const outbox = start();
      const failure = database.transaction(async (add) => {
        await add('mail', 1, { id: 'rolled-back' });
        // Time for the relay to see a row that it must not see.
        await new Promise((resolve) => setTimeout(resolve, 60));
        throw new Error('no');
      });
      await expect(failure).rejects.toThrow('no');
      await database.transaction(async (add) => void (await add('mail', 2, { id: 'committed' })));
      await empty(outbox);
      expect(await waiting()).toEqual(['committed']);
      expect(await longhaul.find('rolled-back')).toBeNull();
    });

    it('keeps the order of each order key, in batches and with three relays', async () => {
      await database.transaction(async (add) => {
        for (let index = 0; index < 60; index += 1)
          await add('mail', index, { id: `${index % 3}-${String(index).padStart(3, '0')}`, orderKey: `k${index % 3}` });
      });
      const relays = [1, 2, 3].map(() => start({ batch: 7 }));
      await empty(relays[0] as AnyOutbox);
      const ids = await waiting();
      expect(ids).toHaveLength(60);
      for (const key of ['0', '1', '2']) {
        const ofKey = ids.filter((id) => id.startsWith(key));
        expect(ofKey).toEqual(ofKey.toSorted());
      }
    });

    it('marks invalid rows, relays the others, and relays a corrected row', async () => {
      const insert = (id: string, queue: string, data: string, options: string): Promise<void> =>
        database.run(
          `INSERT INTO longhaul_outbox (id, queue, data, options, order_key) VALUES ('${id}', '${queue}', '${data}', '${options}', 'k')`,
        );
      await insert('bad-json', 'mail', '{', '{}');
      await insert('bad-queue', 'no such queue!', '1', '{}');
      await insert('bad-option', 'mail', '1', '{"priorty":1}');
      await insert('bad-draft', 'mail', '1', '{"draft":true}');
      await insert('good', 'mail', '1', '{}');
      const outbox = start();
      await empty(outbox);
      expect(await waiting()).toEqual(['good']);
      expect(await outbox.failed()).toEqual([
        { id: 'bad-json', queue: 'mail', error: expect.stringContaining('data: is not JSON') as string },
        { id: 'bad-queue', queue: 'no such queue!', error: expect.stringContaining('queue') as string },
        { id: 'bad-option', queue: 'mail', error: expect.stringContaining('priority') as string },
        { id: 'bad-draft', queue: 'mail', error: expect.stringContaining('draft: is not allowed') as string },
      ]);
      expect(await outbox.status()).toMatchObject({ failed: 4 });
      expect(events.filter(({ type }) => type === 'failed')).toHaveLength(4);
      await database.run(`UPDATE longhaul_outbox SET data = '{}' WHERE id = 'bad-json'`);
      expect(await outbox.retry('bad-json')).toBe(1);
      await expect.poll(waiting).toEqual(['good', 'bad-json']);
      expect(await outbox.retry()).toBe(3);
    });

    it('delays rows of a queue that is down, and later rows of their order key, and no others', async () => {
      await longhaul.queue('closed').down();
      await database.transaction(async (add) => {
        await add('closed', 1, { id: 'first', orderKey: 'k' });
        await add('mail', 2, { id: 'second', orderKey: 'k' });
        await add('mail', 3, { id: 'other' });
      });
      const outbox = start();
      await expect.poll(waiting).toEqual(['other']);
      expect(await outbox.status()).toMatchObject({
        waiting: 2,
        failed: 0,
        problem: expect.stringContaining('down') as string,
      });
      expect(await longhaul.find('second')).toBeNull();
      await longhaul.queue('closed').resume();
      await empty(outbox);
      expect(await waiting()).toEqual(['other', 'second']);
      expect(await longhaul.find('first')).toMatchObject({ state: 'waiting' });
    });

    it('adds no job while another one holds its unique key, and reports that', async () => {
      await longhaul.queue('mail').add(1, { id: 'holder', unique: 'u' });
      const outbox = start();
      await database.transaction(async (add) => void (await add('mail', 2, { id: 'later', unique: 'u' })));
      await empty(outbox);
      expect(events).toContainEqual({ type: 'duplicate', id: 'later', queue: 'mail' });
      expect(await longhaul.find('later')).toBeNull();
    });

    it('adds no job for a sent row whose job is gone, and leaves the decision where its draft may have expired', async () => {
      const insert = (id: string, sentAt: number): Promise<void> =>
        database.run(
          `INSERT INTO longhaul_outbox (id, queue, state, sent_at) VALUES ('${id}', 'mail', 'sent', ${sentAt})`,
        );
      const day = 24 * 60 * 60_000;
      await insert('has-run', Date.now() - 5 * day);
      await insert('unknown', Date.now() - 7 * day);
      const outbox = start();
      await empty(outbox);
      expect(await outbox.failed()).toEqual([
        { id: 'unknown', queue: 'mail', error: expect.stringContaining('its draft has expired') as string },
      ]);
      expect(await waiting()).toEqual([]);
      await outbox.retry('unknown');
      await expect.poll(waiting).toEqual(['unknown']);
    });

    it('adds a draft again that the store lost before its commit', async () => {
      const { jobs } = longhaul.store;
      const commit = jobs.commit.bind(jobs);
      let losses = 1;
      jobs.commit = async (ids) => {
        if (losses-- > 0) await jobs.delete(ids);
        return commit(ids);
      };
      const outbox = start();
      await database.transaction(async (add) => void (await add('mail', 1, { id: 'again' })));
      await empty(outbox);
      expect(await waiting()).toEqual(['again']);
    });

    it('rejects bad input before it writes anything', async () => {
      const refused = async (queue: string, data: unknown, options: object, message: string): Promise<void> => {
        const attempt = database.transaction(async (add) => void (await add(queue, data, options)));
        await expect(attempt).rejects.toMatchObject({
          code: 'bad-input',
          message: expect.stringContaining(message) as string,
        });
      };
      await refused('a queue', 1, {}, 'queue');
      await refused('mail', 1n, {}, 'bigint');
      await refused('mail', 1, { priorty: 1 }, 'priority');
      await refused('mail', 1, { onTaken: 'replace', unique: 'u' }, 'onTaken: is not allowed');
      await refused('mail', 1, { attach: {} }, 'attach: is not allowed');
      await refused('mail', 1, { orderKey: '' }, 'orderKey');
      expect(await database.outbox(longhaul, {}).status()).toMatchObject({ waiting: 0, failed: 0, lagMs: 0 });
    });

    it('can be set up twice, and reports how long the oldest row waits', async () => {
      const outbox = database.outbox(longhaul, {});
      await outbox.setup();
      await outbox.setup();
      await database.run(`INSERT INTO longhaul_outbox (queue, created_at) VALUES ('mail', 0)`);
      expect(await outbox.status()).toMatchObject({ waiting: 1, lagMs: expect.closeTo(Date.now(), -5) as number });
      start();
      await empty(outbox);
      expect(await longhaul.queue('mail').peek()).toMatchObject([{ data: null }]);
    });
  });
}
