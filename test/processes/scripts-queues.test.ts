/**
 * Queues from files: changes take effect at once, problems are reported and lose nothing, and recovery is automatic.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { Bench, eventually } from './scripts-workbench.ts';

const bench = new Bench();
const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);
let node: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  node = await bench.serve();
  await node.says('no queues yet');
});

const problemOf = async (queue: string): Promise<string | null> => {
  const { records } = (await bench.longhaul()).store;
  const [record] = await records.list({ kind: 'queue-problem', prefix: `${queue}/`, limit: 1 });
  return record === undefined ? null : (JSON.parse(record.value) as { label: string; problem: string }).problem;
};
const hasProblem = (queue: string, text: string) =>
  eventually(
    () => problemOf(queue),
    (problem) => problem?.includes(text) === true,
  );
const endsWith = async (queue: string, status: string): Promise<void> => {
  expect(await bench.until(await bench.add(queue), ended)).toMatchObject({ state: 'done', result: { status } });
};
const script = (status: string) => `echo "done ${status}" >&3`;

it('a new executable becomes a queue, and its waiting jobs run', async () => {
  const early = await bench.add('late');
  bench.queue('late', script('first'));
  expect(await bench.until(early, ended)).toMatchObject({ state: 'done', result: { status: 'first' } });
});

it('a replaced script takes effect with the next attempt; a running attempt keeps the old one', async () => {
  const gate = join(bench.home, 'gate');
  bench.queue(
    'swapped',
    `echo "run on" >&3; until [ -e ${gate} ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done; ${script('old')}`,
    {
      concurrency: 2,
    },
  );
  const running = await bench.add('swapped');
  await bench.until(running, ({ progress }) => progress?.text === 'on');
  bench.queue('swapped', script('new'));
  await endsWith('swapped', 'new');
  writeFileSync(gate, '');
  expect(await bench.until(running, ended)).toMatchObject({ state: 'done', result: { status: 'old' } });
});

it('a changed symbolic link is resolved at each start', async () => {
  mkdirSync(join(bench.queues, '.versions'), { mode: 0o755 });
  for (const version of ['one', 'two'])
    writeFileSync(join(bench.queues, '.versions', version), `#!/bin/sh\n${script(version)}\n`, { mode: 0o755 });
  const link = (version: string) => {
    symlinkSync(join('.versions', version), join(bench.queues, '.linked.new'));
    renameSync(join(bench.queues, '.linked.new'), join(bench.queues, 'linked'));
  };
  link('one');
  await endsWith('linked', 'one');
  link('two');
  await endsWith('linked', 'two');
});

it('a script that is not executable, missing, or writable by others blocks its queue with the reason until it is fixed', async () => {
  const path = bench.queue('fragile', script('well'), {});
  await endsWith('fragile', 'well');
  const breakages: [string, () => void, () => void][] = [
    ['not executable', () => chmodSync(path, 0o644), () => chmodSync(path, 0o755)],
    ['does not exist', () => renameSync(path, `${path}~`), () => renameSync(`${path}~`, path)],
    ['can be written by other users', () => chmodSync(path, 0o777), () => chmodSync(path, 0o755)],
  ];
  for (const [problem, spoil, mend] of breakages) {
    spoil();
    // A job may arrive before the scan of the directory: it is released, and nothing is lost either way.
    const id = await bench.add('fragile');
    await hasProblem('fragile', problem);
    await node.says(new RegExp(`queue fragile: .*${problem}`));
    expect(await bench.until(id, 'waiting')).toMatchObject({ failures: 0, crashes: 0 });
    mend();
    expect(await bench.until(id, ended)).toMatchObject({ state: 'done', result: { status: 'well' } });
    await eventually(
      () => problemOf('fragile'),
      (problem) => problem === null,
    );
  }
});

it('a limit without effect for root is reported, if the node is root', async () => {
  bench.queue('bounded', script('well'), { limits: { processes: 50 } });
  await endsWith('bounded', 'well');
  const notice = 'queue bounded: limits.processes has no effect for root';
  if (process.getuid?.() === 0) await node.says(notice);
  else expect(node.lines.some((line) => line.includes(notice))).toBe(false);
});

it('a queue that only records define runs as soon as it has a script', async () => {
  writeFileSync(join(bench.queues, 'shared-script'), script('by record'), { mode: 0o755 });
  const longhaul = await bench.longhaul();
  const id = await bench.add('recorded');
  await longhaul.queue('recorded').configure({ script: join(bench.queues, 'shared-script') });
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
  await longhaul.queue('recorded').configure({ script: '/bin/true' });
  await hasProblem('recorded', 'outside the directories for scripts');
  const later = await bench.add('recorded');
  await longhaul.queue('recorded').configure({ script: join(bench.queues, 'shared-script') });
  expect(await bench.until(later, ended)).toMatchObject({ state: 'done' });
});

it('a script outside the directories for scripts is refused, even through a link', async () => {
  symlinkSync('/bin/true', join(bench.queues, 'outside'));
  const id = await bench.add('outside');
  await hasProblem('outside', 'outside the directories for scripts');
  await bench.until(id, 'waiting');
  rmSync(join(bench.queues, 'outside'));
  bench.queue('outside', script('inside'));
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
});

it('an invalid file leaves the last valid settings in effect; a valid one takes effect', async () => {
  bench.queue('tuned', 'echo "done $VALUE" >&3', { env: { VALUE: '1' } });
  await endsWith('tuned', '1');
  bench.settings('tuned', '{ "env": ');
  await hasProblem('tuned', 'is not valid JSON');
  await endsWith('tuned', '1');
  bench.settings('tuned', { enw: { VALUE: '2' } });
  await hasProblem('tuned', 'env');
  await endsWith('tuned', '1');
  bench.settings('tuned', { env: { VALUE: '3' } });
  await eventually(
    () => problemOf('tuned'),
    (problem) => problem === null,
  );
  await endsWith('tuned', '3');
  rmSync(join(bench.queues, 'tuned.json'));
  await eventually(
    async () => (await (await bench.longhaul()).store.records.get('queue', 'tuned'))?.value,
    (value) => !value?.includes('VALUE'),
  );
  await endsWith('tuned', '');
});

it('a queue that never had a valid file reports the problem and keeps its jobs', async () => {
  bench.settings('newborn', '[]');
  const id = await bench.add('newborn');
  await hasProblem('newborn', 'must be one JSON object');
  bench.settings('newborn', {});
  bench.queue('newborn', script('grown'));
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
});

it('concurrency changes while scripts run: they continue, and more start', async () => {
  const gate = join(bench.home, 'wide');
  bench.queue('widened', `echo "run on" >&3; until [ -e ${gate} ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done`, {
    concurrency: 1,
  });
  const ids = await Promise.all([1, 2, 3].map(() => bench.add('widened')));
  const running = async () =>
    (await Promise.all(ids.map((id) => bench.find(id)))).filter(({ state }) => state === 'running');
  await eventually(running, (jobs) => jobs.length === 1);
  bench.settings('widened', { concurrency: 3 });
  await eventually(running, (jobs) => jobs.length === 3);
  writeFileSync(gate, '');
  for (const id of ids) expect(await bench.until(id, ended)).toMatchObject({ state: 'done', attempt: 1 });
});

it('schedules of a file create jobs, and are deleted when the file no longer has them', async () => {
  bench.queue('timed', script('on time'), { schedules: { often: { every: '1s', data: 7 } } });
  const longhaul = await bench.longhaul();
  const made = await eventually(
    async () => (await longhaul.list({ queue: 'timed', tag: 'schedule:timed.often', state: 'done' })).jobs,
    (jobs) => jobs.length >= 2,
  );
  expect(made[0]).toMatchObject({ data: 7, result: { status: 'on time' } });
  bench.queue('timed', script('on time'), {});
  await eventually(
    () => longhaul.schedules.list(),
    (schedules) => schedules.length === 0,
  );
  bench.queue('timed', script('on time'), { schedules: { never: { cron: '0 0 30 2 *' } } });
  await hasProblem('timed', 'schedules.never: cron: never fires');
});

it("RQ's config.json is read in all its forms", async () => {
  const aQueue = (name: string, config: object, text: string) => {
    mkdirSync(join(bench.queues, name));
    writeFileSync(join(bench.queues, name, 'run.sh'), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
    writeFileSync(
      join(bench.queues, name, 'config.json'),
      JSON.stringify({ name, script: `./queues/${name}/run.sh`, num_workers: '2', ...config }),
    );
  };
  aQueue('rq_plain', { exec_prefix: '', fsync: 'no-fsync', ordering: 'none' }, script('plain $0'));
  aQueue('rq_login', {}, script('login'));
  aQueue('rq_prefix', { exec_prefix: 'nice -n 5' }, 'echo "done $(nice)" >&3');
  aQueue('rq_shell', { exec_prefix: 'sh -c "echo PWNED;"' }, script('never'));
  await endsWith('rq_plain', `plain ${join(bench.queues, 'rq_plain/run.sh')}`);
  await endsWith('rq_login', 'login');
  // In addition to the nice level of all RQ scripts.
  await endsWith('rq_prefix', '19');
  await hasProblem('rq_shell', 'plain words');
  expect(await bench.find(await bench.add('rq_shell'))).toMatchObject({ state: 'waiting' });
});

it("RQ's coalesce_params and blocking_params are in effect", async () => {
  const gate = join(bench.home, 'together');
  const config = { num_workers: '3', exec_prefix: '', coalesce_params: [1], blocking_params: ['2'] };
  // Before the script, so that the queue never runs without it.
  writeFileSync(join(bench.queues, 'rq_together.json'), JSON.stringify({ ...config, script: './queues/rq_together' }));
  bench.queue(
    'rq_together',
    `until [ -e ${gate} ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done; ${script('$RQ_PARAM1')}`,
  );
  const { store } = await bench.longhaul();
  const send = (param1: string) => bench.add('rq_together', { param1, param2: 'one at a time' });
  const first = await send('first');
  await bench.until(first, ({ state }) => state === 'running');
  const equals = [await send('equal'), await send('equal'), await send('equal')];
  expect(
    await eventually(
      async () => (await store.jobs.count(['rq_together']))[0]?.running,
      (running) => running === 1,
    ),
  ).toBe(1);
  writeFileSync(gate, '');
  for (const id of equals)
    expect(await bench.until(id, ended)).toMatchObject({ state: 'done', result: { status: 'equal' } });
  const found = await Promise.all(equals.map(async (id) => (await store.jobs.find([id]))[0]));
  expect(found.map((job) => [job?.attempt, job?.foldedInto])).toEqual([
    [1, null],
    [0, equals[0]],
    [0, equals[0]],
  ]);
});

it('a queue whose file was removed keeps its jobs, and its running scripts are adopted', async () => {
  const gate = join(bench.home, 'gone');
  const path = bench.queue(
    'doomed',
    `echo "run on" >&3; until [ -e ${gate} ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done; ${script('to its end')}`,
  );
  const [running, waiting] = [await bench.add('doomed'), await bench.add('doomed')];
  await bench.until(running, ({ progress }) => progress?.text === 'on');
  await node.kill9();
  rmSync(path);
  node = await bench.serve();
  await node.says('adopted 1 running job');
  writeFileSync(gate, '');
  expect(await bench.until(running, ended)).toMatchObject({
    state: 'done',
    attempt: 1,
    result: { status: 'to its end' },
  });
  expect(await bench.find(waiting)).toMatchObject({ state: 'waiting', attempt: 0 });
});

it('a queue whose file was removed disappears when deleted, and returns with its file', async () => {
  const path = bench.queue('removed', script('back'));
  await endsWith('removed', 'back');
  const text = readFileSync(path);
  rmSync(path);
  await eventually(
    () => problemOf('removed'),
    (problem) => problem !== null,
  );
  const waiting = await bench.add('removed');
  const removing = bench.run('queue', 'removed', '--delete', '--yes', '--home', bench.home);
  expect(removing).toMatchObject({ code: 0, output: expect.stringContaining('deleted queue removed with 2 jobs') });
  await expect(bench.find(waiting)).rejects.toThrow('there is no job');
  await expect(bench.add('removed')).rejects.toMatchObject({ refusal: { code: 'queue-deleted' } });
  await eventually(
    () => problemOf('removed'),
    (problem) => problem === null,
  );
  writeFileSync(`${path}~`, text, { mode: 0o755 });
  renameSync(`${path}~`, path);
  const id = await eventually(
    () => bench.add('removed').catch(() => null),
    (added) => added !== null,
  );
  expect(await bench.until(id ?? '', ended)).toMatchObject({ state: 'done', result: { status: 'back' } });
});

it('a second node on the same data directory is refused and harms nothing', () => {
  const { code, output } = bench.run('serve', '--home', bench.home);
  expect(code).toBe(2);
  expect(output).toContain(`another node (pid ${node.pid}) uses this data directory`);
});
