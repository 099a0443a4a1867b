/**
 * Input and output files of scripts, complete and unchanged at any size; and their removal when their job is deleted.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { Attachments } from '../../src/files/attachments/attachments.ts';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import { homeAt } from '../../src/node/home.ts';
import { JobFiles } from '../../src/node/retention/job-files.ts';
import { searchLog } from '../../src/runner/log/search-log.ts';
import type { JobView } from '../../src/wire/job-view.ts';
import { SettingsCache } from '../../src/worker/loop/settings-cache.ts';
import { testSize } from '../support/test-size.ts';
import { Bench, childOf, cli, eventually } from './scripts-workbench.ts';

vi.setConfig({ testTimeout: 300_000 });
const MB = 1024 ** 2;
const bench = new Bench();
const bigBytes = testSize({ small: 100, full: 1_024 }) * MB;
const seconds = testSize({ small: 3, full: 60 });
const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);
let node: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench.queue('copy', 'cp attach/* out/; echo "done $(sha256sum < "$(ls attach/*)" | cut -d" " -f1)" >&3');
  bench.queue('twice', '(echo made; cat attach/same.txt) > out/same.txt; echo "done $(cat attach/same.txt)" >&3');
  bench.queue(
    'append',
    'sha256sum < attach/in.txt; echo spoilt >> attach/in.txt; echo spoilt > left; [ ! -e left.1 ] && touch left.1; exit 3',
    {
      retries: 1,
      backoff: { kind: 'fixed', delay: '10ms' },
    },
  );
  bench.queue(
    'odd',
    `mkfifo out/fifo; ln -s /etc/passwd out/link; ln /etc/hostname out/hard 2>/dev/null || mkfifo out/hard; mkdir out/deep; echo deep > out/deep/file; echo fine > out/fine
echo named > named.txt; for path in named.txt ../../../../../node.lock /etc/passwd nothing; do echo "attach $path" >&3; done; echo "done" >&3`,
  );
  bench.queue('large', `printf 'result ["' >&3; head -c 400000 /dev/zero | tr '\\0' x >&3; printf '"]\\n' >&3`);
  // 1 MB every tenth of a second, numbered, without a new process for each line.
  bench.queue(
    'loud',
    `#!/usr/bin/perl
$| = 1; my $n = 0;
for (1 .. $ENV{SECONDS} * 10) { my $text = ''; while (length $text < 1048576) { $n++; $text .= "line $n of much " . ('.' x 80) . "\\n" } print $text; select undef, undef, undef, 0.1 }
print "lines $n\\n"; open my $pipe, '>&=', 3; syswrite $pipe, "done $n\\n";`,
    { env: { SECONDS: String(seconds) } },
  );
  node = await bench.serve();
});

const memoryOf = (pid: number, field: string): number =>
  1024 * Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Returns how much more memory the node and its runner each needed at most meanwhile. */
async function growthDuring(work: () => Promise<void>): Promise<Record<string, number>> {
  const pids = { node: node.pid, runner: childOf(node.pid, 'runner-process') };
  // Resets the kernel's high-water mark.
  for (const pid of Object.values(pids)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, rss: memoryOf(pid, 'VmRSS') }));
  await work();
  return Object.fromEntries(before.map(({ name, pid, rss }) => [name, memoryOf(pid, 'VmHWM') - rss]));
}

/** Runs the command line, and returns its peak memory. */
async function runMeasured(args: readonly string[]): Promise<{ output: string; peak: number }> {
  const env = { ...process.env, LONGHAUL_HOME: bench.home };
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ending = once(child, 'exit');
  let output = '';
  let peak = 0;
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  while (child.exitCode === null && child.signalCode === null) {
    peak = Math.max(peak, quietPeak(child.pid ?? 0));
    await Promise.race([ending, sleep(5)]);
  }
  expect(child.exitCode).toBe(0);
  return { output, peak };
}

/** A process that has just ended has no memory to read. */
function quietPeak(pid: number): number {
  try {
    return memoryOf(pid, 'VmHWM') || 0;
  } catch {
    return 0;
  }
}

const inMb = (bytes: Record<string, number>): string =>
  Object.entries(bytes)
    .map(([name, size]) => `${name} ${Math.round(size / MB)} MB`)
    .join(', ');

const attachmentsOf = async (id: string) => {
  const { records } = (await bench.longhaul()).store;
  const found = await records.list({ kind: 'attachment', prefix: `${id}/`, limit: 100 });
  return new Map(
    found.map(({ value }) => [
      (JSON.parse(value) as { name: string }).name,
      JSON.parse(value) as { sha256: string; size: number; direction: string },
    ]),
  );
};

async function hashOfBlob(sha256: string): Promise<string> {
  const blobs = await openBlobs({ folder: join(bench.home, 'blobs') });
  const reading = await blobs.read(sha256);
  if (!reading.ok) throw new Error(reading.refusal.message);
  const hash = createHash('sha256');
  await pipeline(reading.stream, hash);
  await blobs.close();
  return hash.digest('hex');
}

it(`a file of ${bigBytes / MB} MB goes in, is staged, copied by the script and out again, and no process of Longhaul grows`, async () => {
  const big = join(bench.home, 'big');
  execFileSync('sh', ['-c', `head -c ${bigBytes} /dev/urandom > "${big}"`]);
  const sha256 = execFileSync('sh', ['-c', `sha256sum "${big}"`], { encoding: 'utf8' }).slice(0, 64);
  // Once before, so that one-time costs are not measured.
  const small = join(bench.home, 'small');
  writeFileSync(small, 'small');
  const first = await runMeasured(['add', 'copy', '--attach', small]);
  await bench.until(first.output.trim(), 'done');
  let id = '';
  let command = 0;
  const growth = await growthDuring(async () => {
    const { output, peak } = await runMeasured(['add', 'copy', '{}', '--attach', big, '--json']);
    ({ id } = JSON.parse(output) as { id: string });
    command = peak - first.peak;
    expect(await bench.until(id, ended, 240_000)).toMatchObject({ state: 'done', result: { status: sha256 } });
  });
  const attachment = (await attachmentsOf(id)).get('big');
  expect(attachment).toMatchObject({ sha256, size: bigBytes });
  expect(await hashOfBlob(sha256)).toBe(sha256);
  const all = { ...growth, command };
  process.stdout.write(`\nfigures: ${bigBytes} bytes in, staged, copied and out: grown by ${inMb(all)}\n`);
  for (const each of Object.values(all)) expect(each).toBeLessThan(64 * MB);
});

it('an output with the name of an input does not change the input of the next attempt', async () => {
  const path = join(bench.home, 'same.txt');
  writeFileSync(path, 'given\n');
  const id = bench.run('add', 'twice', '--attach', path).output.trim();
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done', attempt: 1, result: { status: 'given' } });
  expect(bench.run('retry', id).code).toBe(0);
  expect(await bench.until(id, ({ state, attempt }) => state === 'done' && attempt === 2)).toMatchObject({
    result: { status: 'given' },
  });
  const { records } = (await bench.longhaul()).store;
  const found = await records.list({ kind: 'attachment', prefix: `${id}/`, limit: 100 });
  const files = found.map(({ value }) => JSON.parse(value) as { name: string; direction: string; size: number });
  expect(files.map(({ name, direction, size }) => [name, direction, size])).toEqual([
    ['same.txt', 'in', 6],
    ['same.txt', 'out', 11],
  ]);
});

it('a script that appends to its attachment changes neither the blob nor the next attempt', async () => {
  const path = join(bench.home, 'in.txt');
  writeFileSync(path, 'pristine\n');
  const sha256 = createHash('sha256').update('pristine\n').digest('hex');
  const id = bench.run('add', 'append', '--attach', path).output.trim();
  expect(await bench.until(id, ended)).toMatchObject({ state: 'failed', attempt: 2, failures: 2 });
  for (const attempt of [1, 2]) expect(bench.log(id, attempt)).toBe(`${sha256}  -\n`);
  expect(await hashOfBlob(sha256)).toBe(sha256);
});

it('accepts only regular files: FIFOs, links and outside paths are refused by name, and nothing blocks', async () => {
  const id = await bench.add('odd');
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
  expect([...(await attachmentsOf(id)).keys()].sort()).toEqual(['deep/file', 'fine', 'named.txt']);
  const refused = bench.record(id).end?.refused.map(({ path }) => path) ?? [];
  expect(refused.sort()).toEqual(['../../../../../node.lock', '/etc/passwd', 'fifo', 'hard', 'link', 'nothing']);
});

it('a result that is too large for the store becomes an attachment', async () => {
  const id = await bench.add('large');
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done', result: { attachment: 'result.json' } });
  expect((await attachmentsOf(id)).get('result.json')).toMatchObject({ size: 400_004, direction: 'out' });
});

it(`10 MB/s for ${seconds} s: the log is whole, a search finds its last line while it runs, the node does not grow`, async () => {
  let id = '';
  const growth = await growthDuring(async () => {
    id = await bench.add('loud');
    await eventually(
      () => (existsSync(join(bench.folder(id), 'log')) ? statSync(join(bench.folder(id), 'log')).size : 0),
      (size) => size > 10 * MB,
      60_000,
    );
    const last = execFileSync('sh', ['-c', `tail -n 2 "${bench.folder(id)}/log" | head -n 1 | cut -d" " -f1-4`], {
      encoding: 'utf8',
    }).trim();
    const { matches } = await searchLog(bench.folder(id), { text: `${last} ` });
    expect(matches.length).toBe(1);
    await bench.until(id, ended, 240_000);
  });
  const lines = Number(((await bench.find(id)).result as { status: string }).status);
  const counted = execFileSync(
    'sh',
    ['-c', `grep -c '^line [0-9]* of much' "${bench.folder(id)}/log"; tail -n 1 "${bench.folder(id)}/log"`],
    { encoding: 'utf8' },
  );
  expect(counted).toBe(`${lines}\nlines ${lines}\n`);
  process.stdout.write(`\nfigures: ${lines} lines in ${seconds} s at 10 MB/s, grown by ${inMb(growth)}\n`);
  for (const each of Object.values(growth)) expect(each).toBeLessThan(64 * MB);
});

it('the files of a job are deleted with it', async () => {
  const path = join(bench.home, 'gone.txt');
  writeFileSync(path, 'soon gone\n');
  const id = bench.run('add', 'copy', '--attach', path).output.trim();
  await bench.until(id, 'done');
  const { store } = await bench.longhaul();
  expect(existsSync(bench.folder(id))).toBe(true);
  await store.jobs.delete([id]);
  await eventually(
    () => existsSync(join(bench.home, 'jobs', id)),
    (isThere) => !isThere,
  );
  await eventually(
    async () => (await attachmentsOf(id)).size,
    (count) => count === 0,
  );
});

it('the sweep removes files of jobs that were deleted while no node ran, and nothing else', async () => {
  const path = join(bench.home, 'kept.txt');
  writeFileSync(path, 'kept\n');
  const [kept, gone] = ['copy', 'copy'].map((queue) => bench.run('add', queue, '--attach', path).output.trim());
  for (const id of [kept, gone]) await bench.until(id ?? '', 'done');
  await node.terminate();
  const { store } = await bench.longhaul();
  await store.jobs.delete([gone ?? '']);
  const folder = join(bench.home, 'jobs', gone ?? '');
  const stray = join(bench.home, 'jobs', 'stray');
  mkdirSync(stray);
  for (const each of [folder, stray]) utimesSync(each, 1, 1);
  const home = homeAt(bench.home);
  const blobs = await openBlobs({ folder: home.blobs });
  const attachments = new Attachments(store, blobs);
  const troubles: unknown[] = [];
  const settings = new SettingsCache(store);
  const onTrouble = (_what: string, error: unknown) => troubles.push(error);
  const files = new JobFiles({ home, store, blobs, attachments, settings, onTrouble });
  await files.sweep();
  await files.stop();
  expect(troubles).toEqual([]);
  expect([folder, stray].filter((each) => existsSync(each))).toEqual([]);
  expect((await attachmentsOf(gone ?? '')).size).toBe(0);
  expect((await attachmentsOf(kept ?? '')).size).toBe(1);
  const sha256 = (await attachmentsOf(kept ?? '')).get('kept.txt')?.sha256 ?? '';
  expect(await attachments.referenced([sha256, '0'.repeat(64)])).toEqual(new Set([sha256]));
  expect(existsSync(bench.folder(kept ?? ''))).toBe(true);
  await blobs.close();
});
