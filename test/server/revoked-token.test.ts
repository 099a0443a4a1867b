/** A worker over HTTP whose token loses its role while its handler runs: the outcome is kept until the token is valid again. */
import { expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { WorkEvent } from '../../src/library/work.ts';
import { makeToken, TOKEN_RECORD } from '../../src/server/auth/tokens.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { startTrial } from './trial-server.ts';

/** Longer than a server caches a token. */
const LATER_MS = 3_000;

it.each([
  ['is revoked', null],
  ['has the role read instead', 'read'],
])('a settlement survives a token that %s', async (_what, role) => {
  let ahead = 0;
  const store = openMemoryStore();
  const { port } = await startTrial({ store, requireToken: true, access: { now: () => Date.now() + ahead } });
  const { token, text } = await makeToken(store.records, { name: 'w', role: 'operate', expiresAt: null }, Date.now());
  const { value } = (await store.records.get(TOKEN_RECORD, token.id)) ?? { value: '' };
  await using longhaul = await connect(`http://127.0.0.1:${port}`, { token: text });
  const events: WorkEvent[] = [];
  const queue = longhaul.queue<number, number>('q');
  let end: (result: number) => void = () => undefined;
  const handler = () => new Promise<number>((resolve) => (end = resolve));
  await queue.work(handler, { onEvent: (event) => events.push(event) }).ready;
  const { id } = await queue.add(1);
  await expect.poll(() => events.map(({ type }) => type)).toContain('started');

  await store.records.delete(TOKEN_RECORD, token.id);
  if (role !== null) {
    const changed = JSON.stringify({ ...(JSON.parse(value) as object), role });
    await store.records.put({ kind: TOKEN_RECORD, key: token.id, value: changed });
  }
  ahead += LATER_MS;
  end(42);
  await expect.poll(() => events.some(({ type }) => type === 'store-away' || type === 'trouble')).toBe(true);
  expect(events.filter(({ type }) => type === 'ended')).toEqual([]);
  await store.records.put({ kind: TOKEN_RECORD, key: token.id, value });
  ahead += 60_000;
  await expect.poll(async () => (await store.jobs.find([id]))[0]?.state, { timeout: 10_000 }).toBe('done');
  expect((await store.jobs.find([id]))[0]).toMatchObject({ result: '42', attempt: 1, failures: 0, interruptions: 0 });
});
