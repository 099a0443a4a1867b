/** A stop leaves no process, whatever requested it; limits; pause and resume; crashing jobs. */
import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { testSize } from '../support/test-size.ts';
import { Bench, eventually } from './scripts-workbench.ts';

const bench = new Bench();
const graceMs = 1_000;
const each = testSize({ small: 1, full: 5 });
const kinds = ['fork', 'setsid', 'double-fork', 'ignores-term', 'daemon', 'nameless', 'stops-itself', 'many-groups'];
const trees = kinds.flatMap((kind) => Array.from({ length: each }, () => kind));
const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);

beforeAll(async () => {
  const TREE = bench.fixture('tree.pl');
  const tree = 'KIND=$RQ_PARAM1 exec "$TREE"';
  const common = { concurrency: trees.length, grace: graceMs, env: { TREE } };
  bench.queue('tree', tree, common);
  // Long enough for all of them to run before the first one ends.
  bench.queue('timed', tree, { ...common, maxRuntime: testSize({ small: '5s', full: '20s' }) });
  bench.queue('elsewhere', 'true', { state: 'paused' });
  bench.queue('leaves', '(setsid sleep 60 &) ; sleep 60 & echo "done and gone" >&3', { grace: '1s' });
  bench.queue('mute', 'echo once; exec sleep 120', { maxSilence: '1s', grace: '1s' });
  bench.queue('brief', 'sleep "$RQ_PARAM1"');
  bench.queue(
    'pausable',
    'for i in $(seq 20); do echo $i; echo "run $i" >&3; sleep 0.1; done; echo "done counted" >&3',
    { maxRuntime: '15s', maxSilence: '3s' },
  );
  bench.queue('poison', 'kill -9 $PPID; sleep 120', { maxCrashes: 2, grace: '1s' });
  bench.queue('greedy', 'exec python3 -c "x = bytearray(800 * 1024 * 1024)"', {
    limits: { addressSpace: '400MB' },
  });
  bench.queue('hungry', `exec perl -e 'my $x = "x" x (120 * 1024 * 1024); sleep 60'`, { limits: { memory: '60MB' } });
  bench.queue('busy', 'while [ $SECONDS -lt 60 ]; do :; done', { limits: { cpu: '1s' } });
  bench.queue('fat', 'head -c 5000000 /dev/zero > fat || exit 7', { limits: { fileSize: '1MB' } });
  bench.queue('talker', 'yes line | head -c 3000000; echo the end', { limits: { log: '1MB' } });
  bench.queue(
    'other',
    'id -u; cat data.json; cat "$LONGHAUL_DATA"; echo mine > out/mine; cat "$DB" >/dev/null || echo barred',
    {
      user: 'nobody',
      env: { DB: join(bench.home, 'store.db') },
    },
  );
  for (const folder of [bench.home, bench.queues]) chmodSync(folder, 0o711);
  await bench.serve();
});

/** Finds processes by every trace of their origin: environment, working directory, open files. */
function belongingTo(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isLiving(pid) && tracesOf(pid).some((trace) => trace.includes(folder)))
    .map(Number);
}

const isLiving = (pid: string): boolean =>
  !/\) [ZX] /.test(quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? ') Z ');

function tracesOf(pid: string): string[] {
  const open = quietly(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  const links = ['cwd', ...open.map((fd) => `fd/${fd}`)];
  return [
    quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '',
    ...links.map((link) => quietly(() => readlinkSync(`/proc/${pid}/${link}`)) ?? ''),
  ];
}

function quietly<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

async function startTrees(queue: string, which: readonly string[]): Promise<string[]> {
  const ids = await Promise.all(which.map((param1) => bench.add(queue, { param1 })));
  for (const id of ids) {
    await bench.until(id, ({ progress }) => progress?.text?.startsWith('ready') === true, 60_000);
    expect(belongingTo(bench.folder(id)).length).toBeGreaterThan(1);
  }
  return ids;
}

/** No process is left within the grace period and a second after each stop request. */
async function leaveNothingInTime(ids: readonly string[], what: string): Promise<void> {
  await eventually(
    () => ids.flatMap((id) => belongingTo(bench.folder(id))),
    (left) => left.length === 0,
    30_000,
  );
  const stops = await eventually(
    () => ids.map((id) => bench.record(id).end?.stop),
    (all) => all.every((stop) => stop !== undefined && stop !== null),
    30_000,
  );
  const longestMs = Math.max(...stops.map((stop) => (stop?.goneAt ?? 0) - (stop?.askedAt ?? 0)));
  process.stdout.write(
    `\nfigures: ${ids.length} trees gone ${longestMs} ms after ${what}, with a grace of ${graceMs} ms\n`,
  );
  expect(longestMs).toBeLessThan(graceMs + 1_000);
}

describe('no process of a tree is left', () => {
  it(`after cancel: ${trees.length} trees`, async () => {
    const ids = await startTrees('tree', trees);
    const longhaul = await bench.longhaul();
    for (const id of ids) expect(await longhaul.cancel(id)).toMatchObject({ ok: true, outcome: 'asked' });
    await leaveNothingInTime(ids, 'cancel');
    for (const id of ids) {
      expect(await bench.until(id, ended)).toMatchObject({ state: 'cancelled', attempt: 1 });
      const { end } = bench.record(id);
      expect(end?.stopped).toMatchObject({ left: 0, means: expect.arrayContaining(['session', 'mark', 'folder']) });
      expect(end?.stopped.words).toMatch(/^0 known processes left/);
    }
  });

  it('after maxRuntime', async () => {
    const which = testSize({ small: ['ignores-term', 'daemon', 'stops-itself'], full: trees });
    const ids = await startTrees('timed', which);
    const jobs = await Promise.all(ids.map((id) => bench.until(id, ended, 60_000)));
    for (const job of jobs) expect(job).toMatchObject({ state: 'failed', failure: { group: 'timeout', detail: null } });
    await leaveNothingInTime(ids, 'maxRuntime');
  });

  it('after its lease was lost, and its outputs are not mixed with those of the next attempt', async () => {
    const which = testSize({ small: ['double-fork', 'ignores-term', 'nameless'], full: trees });
    const ids = await startTrees('tree', which);
    const { store } = await bench.longhaul();
    const moves = await store.jobs.move(ids.map((id) => ({ id, queue: 'elsewhere', steal: true })));
    expect(moves.every(({ ok }) => ok)).toBe(true);
    await leaveNothingInTime(ids, 'the loss of the lease');
    for (const id of ids) expect(await bench.find(id)).toMatchObject({ state: 'waiting', queue: 'elsewhere' });
  });

  it('after a cancel by the command line', async () => {
    const [id = ''] = await startTrees('tree', ['setsid']);
    expect(bench.run('cancel', id)).toEqual({ code: 0, output: `${id}: asked\n` });
    expect(await bench.until(id, ended)).toMatchObject({ state: 'cancelled' });
    expect(bench.run('cancel', 'no-such-job').code).toBe(1);
  });
});

it('processes that a script leaves behind are stopped, and its job is done all the same', async () => {
  const id = await bench.add('leaves');
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done', result: { status: 'and gone' } });
  expect(belongingTo(bench.folder(id))).toEqual([]);
  expect(bench.record(id).end).toMatchObject({ exit: 0, stop: null, stopped: { left: 0 } });
});

it('maxSilence stops a silent script', async () => {
  const id = await bench.add('mute');
  expect(await bench.until(id, ended)).toMatchObject({ state: 'failed', failure: { group: 'silent' } });
  expect(belongingTo(bench.folder(id))).toEqual([]);
});

it('a paused script and its limits stop, and resume where they were', async () => {
  const id = await bench.add('pausable');
  const { store } = await bench.longhaul();
  await bench.until(id, ({ progress }) => Number(progress?.text) >= 1);
  await store.jobs.change([{ id, pause: true }]);
  await standsStill(id);
  const printed = bench.log(id);
  // Longer than maxSilence; the other job is the clock.
  await bench.until(await bench.add('brief', { param1: '4' }), 'done');
  expect(bench.log(id)).toBe(printed);
  expect(await bench.find(id)).toMatchObject({ state: 'running' });
  await store.jobs.change([{ id, pause: false }]);
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done', attempt: 1, result: { status: 'counted' } });
  expect(bench.log(id).trimEnd().split('\n')).toHaveLength(20);
  expect(bench.record(id).pausedMs).toBeGreaterThanOrEqual(4_000);
});

/** All processes of the script's session are stopped. */
async function standsStill(id: string): Promise<void> {
  const session = readFileSync(join(bench.folder(id), 'pid'), 'utf8')
    .split('\n')[1]
    ?.split(' ')[0];
  const states = () =>
    readdirSync('/proc')
      .map((pid) =>
        quietly(() =>
          readFileSync(`/proc/${pid}/stat`, 'latin1')
            .replace(/^.*\) /s, '')
            .split(' '),
        ),
      )
      .filter((fields) => fields?.[3] === session)
      .map((fields) => fields?.[0]);
  await eventually(states, (now) => now.length > 0 && now.every((state) => state === 'T'));
}

it('cancel stops a paused script too', async () => {
  const id = await bench.add('pausable');
  const longhaul = await bench.longhaul();
  await bench.until(id, ({ progress }) => Number(progress?.text) >= 1);
  await longhaul.store.jobs.change([{ id, pause: true }]);
  await standsStill(id);
  await longhaul.cancel(id);
  expect(await bench.until(id, ended)).toMatchObject({ state: 'cancelled' });
  expect(belongingTo(bench.folder(id))).toEqual([]);
});

it('a job that kills its worker has failed after maxCrashes, and other jobs continue', async () => {
  const id = await bench.add('poison');
  expect(await bench.until(await bench.add('brief', { param1: '0' }), ended)).toMatchObject({ state: 'done' });
  expect(await bench.until(id, ended, 60_000)).toMatchObject({
    state: 'failed',
    crashes: 2,
    failure: { group: 'crashed' },
  });
});

describe('limits', () => {
  it.each([
    // The message is the last error line of its log.
    [
      'greedy',
      { state: 'failed', failure: { group: 'exit 1: MemoryError', message: 'MemoryError', detail: 'exit status 1' } },
    ],
    ['hungry', { state: 'failed', failure: { group: 'out of memory' } }],
    ['busy', { state: 'failed', failure: { group: 'killed by SIGXCPU' } }],
    ['fat', { state: 'failed' }],
    ['talker', { state: 'done' }],
  ])('%s is held to its limit', async (queue, expected) => {
    const id = await bench.add(queue);
    const job = await bench.until(id, ended, 60_000);
    expect(job).toMatchObject(expected);
    if (queue === 'hungry') {
      expect(job.failure?.message).toMatch(
        /^out of memory: its processes used [\d.]+ MB, and limits\.memory is 60 MB$/,
      );
      expect(bench.record(id).end?.oom).toBe('limit');
    }
    if (queue === 'greedy') expect(bench.log(id)).toContain('MemoryError');
    if (queue === 'talker') expect(bench.log(id).length).toBeLessThan(2_500_000);
    if (queue === 'busy') expect(bench.record(id).end?.cpuSeconds).toBeGreaterThanOrEqual(0.5);
  });
});

it('a script runs as another user when the node is root, in a workdir of its own, and cannot read the store', async () => {
  const id = await bench.add('other', { a: 1 });
  if (process.getuid?.() !== 0) {
    await bench.until(id, ({ interruptions }) => interruptions > 0);
    const record = await (await bench.longhaul()).store.records.list({ kind: 'queue-problem', limit: 10 });
    expect(record[0]?.value).toContain('only root');
    return;
  }
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
  const [uid, ...rest] = bench.log(id).split('\n');
  expect(Number(uid)).toBeGreaterThan(0);
  expect(rest.join('\n')).toContain('{"a":1}{"a":1}');
  expect(rest.join('\n')).toContain('barred');
  expect(await (await bench.longhaul()).store.records.get('attachment', `${id}/out/mine`)).not.toBeNull();
});
