/** A data directory whose store was replaced: settlements that were meant for the old store do not reach the new one. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { WorkEvent } from '../../src/library/work.ts';
import { storeIdentity } from '../../src/worker/outcome/store-identity.ts';

async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-journal-'));
  const longhaul = await connect(folder);
  onTestFinished(async () => {
    await longhaul.close();
    await rm(folder, { recursive: true, force: true });
  });
  await longhaul.store.jobs.add([{ id: 'a', queue: 'q', data: '{}' }]);
  const { jobs } = await longhaul.store.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'r' });
  const token = jobs[0]?.lease?.token ?? 0;
  const events: WorkEvent[] = [];
  const leave = (lines: readonly unknown[]) =>
    writeFile(join(folder, 'journal.0-0-x.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const settle = { id: 'a', token, kind: 'complete', result: '"of the old store"' };
  const work = () => longhaul.queue('other').work(async () => null, { onEvent: (event) => events.push(event) }).ready;
  const eventOf = (type: WorkEvent['type']) => events.find((event) => event.type === type);
  return { folder, longhaul, settle, leave, work, eventOf };
}

test('A journal of another store is set aside: renamed, reported and not delivered.', async () => {
  const { folder, longhaul, settle, leave, work, eventOf } = await openFolder();
  await leave([{ store: 'another' }, { settle }]);
  await work();
  await expect.poll(() => eventOf('journal-set-aside') ?? eventOf('delivered')).toMatchObject({ settlements: 1 });
  expect(await longhaul.find('a')).toMatchObject({ state: 'running' });
  const names = (await readdir(folder)).filter((name) => name.startsWith('journal.'));
  expect(names).toEqual([expect.stringMatching(/^journal\.set-aside-another-.*\.ndjson$/)]);
  expect(await readFile(join(folder, names[0] ?? ''), 'utf8')).toContain('of the old store');
});

test('A journal of this store is delivered, even one that was set aside for it.', async () => {
  const { folder, longhaul, settle, work, eventOf } = await openFolder();
  const store = await storeIdentity(longhaul.store.records);
  const text = `${JSON.stringify({ store })}\n${JSON.stringify({ settle })}\n`;
  await writeFile(join(folder, `journal.set-aside-${store}-x-1.ndjson`), text);
  await work();
  await expect.poll(() => eventOf('delivered')).toMatchObject({ answer: { ok: true, state: 'done' } });
  expect(await longhaul.find('a')).toMatchObject({ state: 'done', result: 'of the old store' });
  await expect.poll(async () => (await readdir(folder)).filter((name) => name.startsWith('journal.'))).toEqual([]);
});

test('A journal without the name of a store is of an earlier version, and is delivered.', async () => {
  const { settle, leave, work, eventOf } = await openFolder();
  await leave([{ settle }]);
  await work();
  await expect.poll(() => eventOf('delivered')).toMatchObject({ answer: { ok: true, state: 'done' } });
});
