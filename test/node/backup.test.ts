/** `longhaul backup` of a running node, and `longhaul restore`: what is restored, and which old leases are void. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { BackupManifest } from '../../src/node/backup/backup-manifest.ts';
import { filesBelow, sha256Of } from '../processes/blobs-workbench.ts';
import { aBench } from './serve-bench.ts';

function manifestOf(backup: string): BackupManifest {
  return JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as BackupManifest;
}

/** A data directory with a running job, a waiting one, a done one, and one with a file. */
async function aBusyHome() {
  const bench = aBench();
  bench.queue('long', 'while [ ! -e "$LONGHAUL_PARAM1" ]; do sleep 0.1; done');
  bench.queue('short', 'echo hello; cat attach/* 2>/dev/null; true', { retries: 2 });
  bench.queue('linked', 'true');
  rmSync(join(bench.queues, 'linked'));
  symlinkSync('short', join(bench.queues, 'linked'));
  writeFileSync(join(bench.home, 'node.json'), '{"env":"production"}');
  const node = await bench.serve();
  const running = await bench.add('long', { param1: join(bench.home, 'gate') });
  await bench.until(running, (job) => job.state === 'running' && job.lease?.startedAt !== null);
  const waiting = await bench.add('long');
  const done = await bench.add('short', { a: 1 });
  await bench.until(done, 'done');
  const file = join(bench.home, 'film.txt');
  writeFileSync(file, 'a film');
  const attached = bench.run('add', 'short', '--attach', file, '--id', 'with-file', '--store', bench.home);
  expect(attached).toMatchObject({ code: 0 });
  await bench.until('with-file', 'done');
  const folder = join(bench.home, '..', `${bench.home.split('/').at(-1)}-copies`);
  mkdirSync(folder);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { bench, node, running, waiting, done, folder };
}

test('A backup of a running node contains jobs, queues, settings and attachments, each file with its hash.', async () => {
  const { bench, node, folder } = await aBusyHome();
  const to = join(folder, 'backup');
  const { code, output } = bench.run('backup', '--to', to, '--logs');
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('backed up') as string });
  const { files, links, store } = manifestOf(to);
  expect(store).toBe('sqlite');
  expect(links).toEqual([{ path: 'queues/linked', target: 'short' }]);
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['store.db', 'node.json', 'queues/short', 'queues/short.json']));
  expect(paths.filter((path) => path.endsWith('/log')).length).toBeGreaterThan(0);
  expect(paths.filter((path) => path.startsWith('blobs/'))).toEqual([
    expect.stringContaining(sha256Of(Buffer.from('a film'))),
  ]);
  for (const { path, sha256 } of files) expect(sha256Of(readFileSync(join(to, path)))).toBe(sha256);
  expect(filesBelow(to).filter((path) => path !== 'manifest.json')).toEqual([...paths].sort());
  expect(bench.run('backup', '--to', to)).toMatchObject({
    code: 2,
    output: expect.stringContaining('is not empty') as string,
  });
  await node.terminate();
});

test('A restored data directory has void leases and larger tokens than before, and keeps working.', async () => {
  const { bench, node, running, waiting, done, folder } = await aBusyHome();
  const to = join(folder, 'backup');
  bench.run('backup', '--to', to);
  // Tokens issued after the backup: the restored store does not know them.
  const later = await bench.add('short');
  const { lease: before } = await bench.find(running);
  await bench.until(later, 'done');
  const newest = Math.max(...(await (await bench.longhaul()).history(later)).map(({ token }) => token ?? 0));
  const home = join(folder, 'restored');
  const restored = bench.run('restore', '--from', to, '--home', home);
  expect(restored).toMatchObject({ code: 0, output: expect.stringContaining('1 running job waits again') as string });
  const longhaul = await connect(home);
  try {
    expect(await longhaul.find(running)).toMatchObject({ state: 'waiting', interruptions: 1, crashes: 0, lease: null });
    expect((await longhaul.find(running))?.returnedAt).not.toBeNull();
    expect(await longhaul.find(done)).toMatchObject({ state: 'done', data: { a: 1 } });
    expect(await longhaul.find(later)).toBeNull();
    const { jobs } = longhaul.store;
    const [claimed] = (await jobs.claim({ worker: 'w', queues: ['long'], limit: 1, requestId: '1' })).jobs;
    // At the front, before the waiting job.
    expect(claimed?.id).toBe(running);
    expect(claimed?.lease?.token).toBeGreaterThan(newest);
    const [stale] = await jobs.settle([{ id: running, token: before?.token ?? 0, kind: 'complete' }]);
    expect(stale).toMatchObject({ ok: false, refusal: { code: 'lease-lost' } });
    await jobs.settle([{ id: running, token: claimed?.lease?.token ?? 0, kind: 'release', reason: 'test' }]);
  } finally {
    await longhaul.close();
  }
  expect(readFileSync(join(home, 'node.json'), 'utf8')).toContain('production');
  expect((await bench.find(waiting)).state).toBe('waiting');
  expect(existsSync(join(home, 'running'))).toBe(false);
  await node.terminate();
});

test.each([
  [
    'a file that was changed',
    (to: string) => appendFileSync(join(to, 'queues/short'), '#\n'),
    /queues\/short is damaged/,
  ],
  ['a database that was cut', (to: string) => writeFileSync(join(to, 'store.db'), 'short'), /store\.db is damaged/],
  ['a file that is missing', (to: string) => rmSync(join(to, 'node.json')), /node\.json is damaged: it is missing/],
  ['no manifest', (to: string) => rmSync(join(to, 'manifest.json')), /is not a backup: it has no manifest/],
  [
    'a manifest with a path outside the data directory',
    (to: string) => {
      const manifest = manifestOf(to);
      const [first, ...rest] = manifest.files;
      writeFileSync(
        join(to, 'manifest.json'),
        JSON.stringify({ ...manifest, files: [{ ...first, path: '../evil' }, ...rest] }),
      );
    },
    /files\[0\]\.path: must be a path below the data directory/,
  ],
])('A backup with %s is not restored, and leaves no data directory behind.', (_what, damage, message) => {
  const bench = aBench();
  bench.queue('short', 'true');
  writeFileSync(join(bench.home, 'node.json'), '{}');
  bench.run('add', 'short', '--create');
  const to = join(bench.home, 'backup');
  expect(bench.run('backup', '--to', to)).toMatchObject({ code: 0 });
  chmodSync(join(to, 'queues/short'), 0o700);
  damage(to);
  const home = join(bench.home, 'restored');
  const { code, output } = bench.run('restore', '--from', to, '--home', home);
  expect(output).toMatch(message);
  expect(code).not.toBe(0);
  expect(existsSync(home)).toBe(false);
  expect(existsSync(`${home}.restoring`)).toBe(false);
});

test('A restore into an existing data directory is refused.', () => {
  const bench = aBench();
  bench.run('add', 'short', '--create');
  const to = join(bench.home, 'backup');
  bench.run('backup', '--to', to);
  const refused = bench.run('restore', '--from', to, '--home', bench.home);
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('is not empty') as string });
});
