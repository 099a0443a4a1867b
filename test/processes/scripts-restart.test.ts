/** Restarts kill no script: the node is killed, stopped and restarted while scripts run, and all of them continue. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { testSize } from '../support/test-size.ts';
import { endAllOf } from './runner-workbench.ts';
import { Bench, childOf, eventually, markedWith } from './scripts-workbench.ts';

const many = testSize({ small: 16, full: 50 });
const bench = new Bench();
const ledger = join(bench.home, 'ledger');
let tries = 0;
/** Of this try: a retry must not find the gates of an earlier one open. */
const file = (name: string) => join(bench.home, `${name}-${tries}`);
const stop = join(bench.home, 'stop');
let node: Awaited<ReturnType<Bench['serve']>>;

/** Runs until the file exists that its parameter names. */
const untilTold =
  'echo "run waits" >&3; echo $$ >> "$WITNESS/$RQ_MSG_ID"; until [ -e "$RQ_PARAM1" ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done';

beforeAll(async () => {
  mkdirSync(ledger);
  const env = { WITNESS: ledger, STOP: stop, COUNTER: bench.fixture('count-until.pl') };
  bench.queue('counter', 'exec "$COUNTER"', { concurrency: many, env });
  bench.queue(
    'away',
    `${untilTold}; echo printed; echo 'progress 80 nearly' >&3; echo 'tag seen' >&3; echo 'checkpoint {"at":9}' >&3
echo 'dup 0-X-copies' >&3; echo made > out/made.txt; echo 'result {"sum":7}' >&3; echo 'done while away' >&3`,
    { env },
  );
  bench.queue('copies', 'true');
  bench.queue('leased', `${untilTold}; echo "done at last" >&3`, { concurrency: 4, lease: '1s', env });
  bench.queue(
    'shimless',
    `if [ $LONGHAUL_ATTEMPT = 1 ]; then (setsid sleep 300 &) ; ${untilTold}; fi; echo "done the second time" >&3`,
    { grace: '1s', env },
  );
  node = await bench.serve();
});

beforeEach(async () => {
  tries += 1;
  if (!node.isAlive) node = await bench.serve();
});

/** Jobs of an earlier try, which would occupy the slots. */
async function endCounters(): Promise<void> {
  writeFileSync(stop, '');
  const { store } = await bench.longhaul();
  await eventually(
    async () => (await store.jobs.count(['counter']))[0]?.running ?? 0,
    (running) => running === 0,
  );
  rmSync(stop);
}

const startsOf = (id: string): number => {
  const path = join(ledger, id);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').length : 0;
};
const linesOf = (id: string): string[] => bench.log(id).split('\n').slice(0, -1);

async function allGoOn(ids: readonly string[]): Promise<void> {
  const before = ids.map((id) => linesOf(id).length);
  await eventually(
    () => ids.map((id) => linesOf(id).length),
    (now) => now.every((count, place) => count > (before[place] ?? 0) + 3),
    30_000,
  );
  const shown = await Promise.all(ids.map(async (id) => (await bench.find(id)).progress?.at ?? 0));
  const isNewer = async (id: string, place: number) => ((await bench.find(id)).progress?.at ?? 0) > (shown[place] ?? 0);
  await eventually(
    () => Promise.all(ids.map(isNewer)),
    (newer) => newer.every((each) => each),
    30_000,
  );
}

it(`${many} scripts outlive a killed node, a stopped node and a killed runner; each ran once and no line is missing`, async () => {
  await endCounters();
  const ids = await Promise.all(Array.from({ length: many }, () => bench.add('counter')));
  await eventually(
    () => ids.filter((id) => linesOf(id).length > 0).length,
    (count) => count === many,
    60_000,
  );

  await node.kill9();
  node = await bench.serve();
  await node.says(`adopted ${many} running jobs`);
  await allGoOn(ids);

  expect(await node.terminate()).toMatchObject({ code: 0 });
  node = await bench.serve();
  await node.says(`adopted ${many} running jobs`);
  await allGoOn(ids);

  const runner = childOf(node.pid, 'runner-process');
  expect(runner).toBeGreaterThan(0);
  process.kill(runner, 'SIGKILL');
  await eventually(
    () => childOf(node.pid, 'runner-process'),
    (pid) => pid > 0 && pid !== runner,
    30_000,
  );
  await allGoOn(ids);

  writeFileSync(stop, '');
  for (const id of ids) {
    const job = await bench.until(id, 'done', 60_000);
    const lines = linesOf(id);
    expect(job).toMatchObject({ attempt: 1, crashes: 0, interruptions: 0, result: { status: `${lines.length}` } });
    expect(lines).toEqual(lines.map((_, place) => `counter ${place + 1}`));
    expect(startsOf(id)).toBe(1);
  }
});

it('a script that ends while node and runner are down keeps its reports, status, result, log and outputs', async () => {
  const { store } = await bench.longhaul();
  const copies = async () => (await store.jobs.list({ queue: 'copies', order: 'newest', limit: 10 })).jobs.length;
  const before = await copies();
  const id = await bench.add('away', { param1: file('away') });
  await eventually(
    () => startsOf(id),
    (starts) => starts === 1,
    30_000,
  );
  const runner = childOf(node.pid, 'runner-process');
  await node.kill9();
  await eventually(
    () => existsSync(`/proc/${runner}`),
    (isThere) => !isThere,
  );
  writeFileSync(file('away'), '');
  await eventually(
    () => existsSync(join(bench.folder(id), 'exit')) && markedWith(bench.folder(id)).length === 0,
    Boolean,
    30_000,
  );
  node = await bench.serve();
  expect(await bench.until(id, 'done', 30_000)).toMatchObject({
    attempt: 1,
    result: { sum: 7 },
    tags: ['seen'],
    progress: { percent: 80, text: 'while away' },
  });
  expect(bench.log(id)).toBe('printed\n');
  expect((await store.jobs.find([id]))[0]?.checkpoint).toBe('{"at":9}');
  expect(await store.records.get('attachment', `${id}/out/made.txt`)).not.toBeNull();
  expect(await copies()).toBe(before + 1);
  // The next test counts running jobs.
  await eventually(
    async () => (await store.jobs.count(['copies']))[0],
    (counts) => counts?.done === before + 1,
    30_000,
  );
});

it('a node that was down for longer than the lease, without other workers, adopts its script again', async () => {
  const id = await bench.add('leased', { param1: file('leased') });
  await eventually(
    () => startsOf(id),
    (starts) => starts === 1,
    30_000,
  );
  await node.kill9();
  const { lease } = await bench.find(id);
  await eventually(Date.now, (now) => now > (lease?.until ?? 0) + 500);
  expect(await bench.find(id)).toMatchObject({ state: 'running', label: 'stalled' });
  const counts = await (await bench.longhaul()).store.jobs.count(['counter', 'away', 'copies', 'leased', 'shimless']);
  const running = counts.reduce((sum, each) => sum + each.running, 0);
  node = await bench.serve();
  // Each of them once.
  await node.says(`adopted ${running} running job`);
  writeFileSync(file('leased'), '');
  expect(await bench.until(id, 'done', 30_000)).toMatchObject({
    attempt: 1,
    crashes: 0,
    result: { status: 'at last' },
  });
  expect(startsOf(id)).toBe(1);
});

it('a script whose job was claimed by another worker meanwhile is stopped before anything is claimed', async () => {
  const id = await bench.add('leased', { param1: file('never') });
  await eventually(
    () => startsOf(id),
    (starts) => starts === 1,
    30_000,
  );
  await node.kill9();
  const { lease } = await bench.find(id);
  await eventually(Date.now, (now) => now > (lease?.until ?? 0) + 100);
  const { store } = await bench.longhaul();
  const claimed = await eventually(
    () =>
      store.jobs.claim({
        worker: 'another',
        queues: ['leased'],
        limit: 1,
        requestId: `r${Date.now()}`,
        leaseMs: 60_000,
      }),
    ({ jobs }) => jobs.length === 1,
    30_000,
  );
  expect(claimed.jobs[0]).toMatchObject({ id, attempt: 2 });
  node = await bench.serve();
  expect(markedWith(bench.folder(id))).toEqual([]);
  expect(await bench.find(id)).toMatchObject({ state: 'running', attempt: 2, lease: { worker: 'another' } });
});

it('a killed shim: the process tree is killed, one crash is counted, and the job runs again', async () => {
  const id = await bench.add('shimless', { param1: file('never') });
  await eventually(
    () => startsOf(id),
    (starts) => starts === 1,
    30_000,
  );
  process.kill(Number(readFileSync(join(bench.folder(id), 'pid'), 'utf8').split(' ')[0]), 'SIGKILL');
  expect(await bench.until(id, 'done', 30_000)).toMatchObject({
    attempt: 2,
    crashes: 1,
    result: { status: 'the second time' },
  });
  expect(markedWith(bench.folder(id))).toEqual([]);
  expect(startsOf(id)).toBe(1);
});

it('a record of another boot, or with a reused pid, signals no process', async () => {
  const [reboot, reused] = [
    await bench.add('leased', { param1: file('never') }),
    await bench.add('leased', { param1: file('never') }),
  ];
  for (const id of [reboot, reused])
    await eventually(
      () => startsOf(id),
      (starts) => starts === 1,
      30_000,
    );
  await node.kill9();
  const innocent = spawn('sleep', ['120'], { stdio: 'ignore' });
  onTestFinished(() => void innocent.kill('SIGKILL'));
  const [first = '', second = ''] = readFileSync(join(bench.folder(reboot), 'pid'), 'utf8').split('\n');
  const survivor = Number(second.split(' ')[0]);
  writeFileSync(
    join(bench.folder(reboot), 'pid'),
    `${first.replace(/^(\d+ \d+) \S+/, '$1 another-boot')}\n${second}\n`,
  );
  const forged = readFileSync(join(bench.folder(reused), 'pid'), 'utf8').split('\n');
  // A shim that outlives its script would report its end; this one must have been killed first.
  process.kill(Number(forged[0]?.split(' ')[0]), 'SIGKILL');
  await endAllOf(bench.folder(reused));
  rmSync(join(bench.folder(reused), 'exit'), { force: true });
  const boot = forged[0]?.split(' ')[2] ?? '';
  writeFileSync(join(bench.folder(reused), 'pid'), `${innocent.pid} 12345 ${boot}\n${innocent.pid} 12345\n`);
  node = await bench.serve();
  // After a reboot the job is not at fault; a shim that vanished without a report is a crash.
  expect(await bench.until(reboot, ({ attempt }) => attempt === 2, 30_000)).toMatchObject({
    interruptions: 1,
    crashes: 0,
  });
  expect(await bench.until(reused, ({ attempt }) => attempt === 2, 30_000)).toMatchObject({ crashes: 1 });
  expect(existsSync(`/proc/${survivor}`)).toBe(true);
  expect(innocent.exitCode).toBeNull();
  expect(innocent.signalCode).toBeNull();
  await (await bench.longhaul()).cancel(reboot);
  await (await bench.longhaul()).cancel(reused);
});
