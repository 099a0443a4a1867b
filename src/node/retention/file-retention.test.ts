import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import { openBlobs } from '../../files/blobs/open-blobs.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { attemptFolder, homeAt } from '../home.ts';
import { JobFiles } from './job-files.ts';

const root = mkdtempSync(join(tmpdir(), 'longhaul-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let homes = 0;

/** A data directory with ended jobs, each with a log of the given size and a file of 4 bytes. */
async function aHome(logs: readonly number[], retention: SettingsInput['retention']) {
  homes += 1;
  const home = homeAt(join(root, String(homes)));
  mkdirSync(home.jobs, { recursive: true });
  const store = openMemoryStore({ clock: 'caller' });
  const blobs = await openBlobs({ folder: home.blobs });
  const attachments = new Attachments(store, blobs);
  const settings = new SettingsCache(store);
  await settings.change('q', { retention: retention ?? {} });
  const troubles: unknown[] = [];
  const onTrouble = (_what: string, error: unknown): void => void troubles.push(error);
  const files = new JobFiles({ home, store, blobs, attachments, settings, onTrouble });
  const end = async (id: string, bytes: number, now: number): Promise<void> => {
    await store.jobs.add([{ id, queue: 'q', data: '1' }], { now });
    const claim = { worker: 'w', queues: ['q'], limit: 1, requestId: id };
    const [job] = (await store.jobs.claim(claim, { now })).jobs;
    const folder = attemptFolder(home, id, 1);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'log'), 'x'.repeat(bytes));
    writeFileSync(join(folder, 'log.index'), '');
    await attachments.put(id, { name: 'out', sha256: id.padEnd(64, '0'), size: 4, direction: 'out' });
    await store.jobs.settle([{ id, token: job?.lease?.token ?? 0, kind: 'complete' }], { now });
  };
  for (const [index, bytes] of logs.entries()) await end(String(index), bytes, Date.now() - 100_000 + index * 10_000);
  return { home, store, files, attachments, troubles, end, logs: () => kept(home, 'log') };
}

function kept(home: ReturnType<typeof homeAt>, name: string): readonly string[] {
  const ids = readdirSync(home.jobs).sort();
  return ids.filter((id) => readdirSync(attemptFolder(home, id, 1)).includes(name));
}

it('counts logs and attachments, and keeps them with their jobs without a limit', async () => {
  const { files, troubles, logs } = await aHome([10, 20], undefined);
  expect(files.kept.of('q')).toBe(null);
  await files.sweep();
  expect(files.kept.of('q')).toEqual({ logs: { count: 2, bytes: 30 }, attachments: { count: 2, bytes: 8 } });
  await files.retain();
  expect([logs(), troubles]).toEqual([['0', '1'], []]);
});

it.each([
  [{ logs: { for: '75s' } }, ['3', '4']],
  [{ logs: { count: 2 } }, ['3', '4']],
  [{ logs: { bytes: 60 } }, ['3', '4']],
  [{ logs: { bytes: 0 } }, []],
] as const)('removes logs by %j, those of the oldest ends first', async (retention, left) => {
  const { files, troubles, logs, store, attachments } = await aHome([10, 20, 30, 30, 30], retention);
  await files.sweep();
  const bytes = left.length === 0 ? 120 : 60;
  expect(await files.prunable()).toMatchObject([{ queue: 'q', kind: 'logs', bytes }]);
  await files.retain();
  expect([logs(), troubles]).toEqual([left, []]);
  expect(files.kept.of('q')?.logs).toEqual({ count: left.length, bytes: 120 - bytes });
  expect(await files.prunable('q')).toEqual([]);
  expect((await store.jobs.find(['0']))[0]).toMatchObject({ state: 'done' });
  expect(await attachments.list('0')).toHaveLength(1);
});

it('removes attachments by a limit of their own', async () => {
  const { files, attachments, logs } = await aHome([1, 1, 1], { attachments: { bytes: '10b' } });
  await files.sweep();
  await files.retain();
  expect(await Promise.all(['0', '1', '2'].map(async (id) => (await attachments.list(id)).length))).toEqual([0, 1, 1]);
  expect(logs()).toEqual(['0', '1', '2']);
});

it('counts ended and deleted jobs between two sweeps', async () => {
  const { files, store, end, logs } = await aHome([10, 10], { logs: { bytes: 25 } });
  files.start();
  await files.retain();
  await end('2', 10, Date.now());
  await files.retain();
  expect(logs()).toEqual(['1', '2']);
  await store.jobs.delete(['1']);
  await files.retain();
  expect(files.kept.of('q')?.logs).toEqual({ count: 1, bytes: 10 });
  await files.stop();
});
