/** Every command on a data directory without a node: it uses the store itself, or reports what is missing. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { CliBench } from './cli-bench.ts';

const bench = new CliBench();

beforeAll(async () => {
  bench.queue('films', 'echo never run');
  bench.file('notes.txt', 'remember the milk');
  await (await connect(bench.home)).close();
});

/** Expects an error: a message on stderr, no stack trace. */
const refused = async (code: number, message: string, ...line: string[]): Promise<void> => {
  const result = await bench.run(...line);
  expect(result.stderr).toContain(message);
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).not.toMatch(/^\s+at /m);
};

it('sets, lists and deletes throttles without a node, and refuses a maximum of 0', async () => {
  expect(await bench.run('throttle', 'db', '2')).toEqual({
    code: 0,
    stdout: 'throttle db: at most 2 at once\n',
    stderr: '',
  });
  expect(await bench.json('throttle')).toMatchObject([{ name: 'db', max: 2, held: 0, holders: [] }]);
  await refused(2, 'must be a whole number from 1 to 1000000', 'throttle', 'db', '0');
  await refused(2, 'MAX, --rate or --delete is missing', 'throttle', 'db');
  await refused(2, '--by and --cost need --rate', 'throttle', 'db', '2', '--by', 'model');
  expect(await bench.run('throttle', 'api', '--rate', '60/1m', '--by', 'model', '--cost', 'n')).toMatchObject({
    code: 0,
    stdout: 'throttle api: at most 60/1m started for each model, counted by n\n',
  });
  expect((await bench.run('throttle')).stdout).toMatch(/api +0 of any +60\/1m/);
  expect(await bench.run('throttle', 'api', '--delete')).toMatchObject({ code: 0 });
  expect(await bench.run('throttle', 'db', '--delete')).toMatchObject({ code: 0 });
  expect((await bench.run('throttle')).stdout).toContain('no throttles');
});

it('prints the log of a handler, and says that a job has no output', async () => {
  const longhaul = await connect(bench.home);
  const queue = longhaul.queue<string | null>('typed');
  queue.work((job) => {
    if (job.data !== null) job.log(job.data);
  });
  await (await queue.add('said', { id: 'said' })).finished();
  await (await queue.add(null, { id: 'silent' })).finished();
  await longhaul.close();
  expect(await bench.run('logs', 'said')).toEqual({ code: 0, stdout: 'said\n', stderr: '' });
  const stderr = 'longhaul: attempt 1 of job silent has no output\n';
  expect(await bench.run('logs', 'silent')).toEqual({ code: 0, stdout: '', stderr });
  expect(await bench.run('logs', '-f', 'silent')).toEqual({ code: 0, stdout: '', stderr });
});

describe('a job without a node', () => {
  it('is added with its options, listed and shown', async () => {
    const options = ['--id', 'film-1', '--name', 'Nosferatu', '--tag', 'old', '--tag', 'mute', '--priority', '5'];
    const added = await bench.run('add', 'films', '{"frames":3}', ...options);
    expect(added).toEqual({ code: 0, stdout: 'film-1\n', stderr: '' });
    const { jobs } = await bench.json<{ jobs: JobView[] }>('ls', 'films');
    expect(jobs).toMatchObject([
      { id: 'film-1', name: 'Nosferatu', tags: ['old', 'mute'], priority: 5, label: 'ready' },
    ]);
    const shown = await bench.run('show', 'film-1');
    for (const text of ['Nosferatu', 'old, mute', '{"frames":3}', 'waits for a worker', 'added'])
      expect(shown.stdout).toContain(text);
  });

  it('is shown with its steps, and with what it waits for until when', async () => {
    const longhaul = await connect(bench.home);
    const queue = longhaul.queue<null>('staged');
    queue.work(async (job) => {
      await job.step('cut', () => ({ parts: 2 }));
      await job.step('upload', () => Promise.reject(new Error('disk full'))).catch(() => undefined);
      await job.sleep(1);
      await job.waitForEvent('last word', { timeout: '7d' });
    });
    await queue.add(null, { id: 'staged-1' });
    await expect.poll(async () => (await longhaul.find('staged-1'))?.label).toBe('suspended');
    await longhaul.close();
    const { stdout } = await bench.run('show', 'staged-1');
    expect(stdout).toMatch(/reason +waiting for last word until \d{4}-/);
    expect(stdout).toMatch(/waits until +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in 6 d\)/);
    expect(stdout).toMatch(/send it with +longhaul notify staged-1 'last word'\n/);
    expect(stdout).toMatch(/cut +run +done +1 +20.* 0\.\d s +\{"parts":2\}/);
    expect(stdout).toMatch(/upload +run +failed +1 .*disk full/);
    expect(stdout).toMatch(/sleep +sleep +done /);
    expect(stdout).toMatch(/last word +event +waiting /);
    expect(await bench.json('show', 'staged-1')).toMatchObject({
      suspension: { event: 'last word' },
      steps: [
        { name: 'cut', status: 'done', attempts: 1, result: { parts: 2 } },
        { name: 'upload', status: 'failed', failure: 'disk full' },
        { name: 'sleep', kind: 'sleep' },
        { name: 'last word', kind: 'event', status: 'waiting', until: expect.any(Number) },
      ],
    });
    await bench.run('cancel', 'staged-1');
    expect((await bench.run('show', 'staged-1')).stdout).toMatch(/last word +event +cut short/);
  });

  it('shows the resources that it needs, and the wait reason if no worker has them', async () => {
    await bench.run('add', 'models', '--create', '--id', 'film-gpu', '--needs', 'gpu=1', '--needs', 'cpu=2');
    const why = 'needs cpu=2, gpu=1, and no registered worker has that capacity';
    expect(await bench.json<JobView>('show', 'film-gpu')).toMatchObject({ label: 'throttled', reason: why });
    await refused(2, '--needs must be RESOURCE=N, such as gpu=1, not gpu', 'add', 'films', '--needs', 'gpu');
    await refused(2, 'must have a name of letters', 'add', 'films', '--needs', '3d=1');
  });

  it('is listed in a table as wide as the terminal, with the whole id', async () => {
    const lines = (await bench.runIn({ COLUMNS: '40' }, 'ls')).stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ID +QUEUE +STATE/);
    expect(lines.find((line) => line.startsWith('film-1 '))).toBeDefined();
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it('keeps its file, which can be downloaded', async () => {
    await bench.run('add', 'films', '--id', 'film-2', '--draft');
    expect(await bench.run('attach', 'film-2', 'notes.txt', '--commit')).toMatchObject({ code: 0 });
    expect((await bench.run('attach', 'film-2')).stdout).toMatch(/notes\.txt +17 B +input/);
    expect(await bench.run('attach', 'film-2', '--get', 'notes.txt', '-o', 'back.txt')).toMatchObject({ code: 0 });
    expect(readFileSync(join(bench.folder, 'back.txt'), 'utf8')).toBe('remember the milk');
    await refused(1, 'did you mean notes.txt?', 'attach', 'film-2', '--get', 'note.txt');
    await refused(1, 'exists already: choose another file with -o', 'attach', 'film-2', '--get', 'notes.txt');
    await refused(1, 'is waiting: only a draft accepts files', 'attach', 'film-2', 'notes.txt');
    await refused(2, 'there is no file nothing.txt', 'add', 'films', '--attach', 'nothing.txt');
  });

  it('is cancelled by id, or with its queue after a confirmation', async () => {
    await bench.run('add', 'films', '--id', 'film-3');
    expect(await bench.run('cancel', 'film-3', 'unknown')).toMatchObject({
      code: 1,
      stdout: 'film-3: cancelled\nunknown: job unknown does not exist\n',
    });
    await refused(
      1,
      'this would cancel 2 waiting jobs of queue films; confirm with --yes',
      'cancel',
      '--queue',
      'films',
    );
    const all = await bench.run('cancel', '--queue', 'films', '--state', 'waiting', '--yes');
    expect(all).toMatchObject({ code: 0, stdout: 'cancelled 2 of 2 waiting jobs of queue films\n' });
  });

  it('can be retried after it has ended', async () => {
    expect((await bench.run('retry', 'film-3')).stdout).toBe('film-3: requeued\n');
    const unknown = await bench.run('retry', 'unknown');
    expect(unknown).toMatchObject({ code: 1, stdout: 'unknown: job unknown does not exist\n' });
    expect((await bench.run('retry', '--failed', '--queue', 'films')).stdout).toBe('requeued 0 failed jobs\n');
  });
});

describe('a job with dependencies, without a node', () => {
  it('is added, shown with the state of its dependencies, and prevents an unconfirmed cancel of them', async () => {
    for (const id of ['one', 'two']) await bench.run('add', 'films', '--id', id);
    const after = ['--after', 'one', '--after', 'two'];
    expect(await bench.run('add', 'films', '--id', 'both', ...after)).toMatchObject({ code: 0, stdout: 'both\n' });
    const shown = (await bench.run('show', 'both')).stdout;
    for (const text of ['blocked', 'waits for 2 of 2 jobs', '0 of 2 jobs done']) expect(shown).toContain(text);
    expect((await bench.run('show', 'one')).stdout).toMatch(/dependents +1 job still waiting for it/);
    await refused(
      1,
      'job x cannot wait for jobs that do not exist: unknown',
      'add',
      'films',
      '--id',
      'x',
      '--after',
      'unknown',
    );
    const unconfirmed = await bench.run('cancel', 'one');
    expect(unconfirmed).toMatchObject({ code: 1, stdout: expect.stringContaining('one: 1 job waits for job one') });
    expect(unconfirmed.stdout).toContain('use --dependents cancel or --dependents leave');
    await refused(2, '--dependents', 'cancel', 'one', '--dependents', 'maybe');
    expect(await bench.run('cancel', 'one', '--dependents', 'leave')).toMatchObject({
      code: 0,
      stdout: 'one: cancelled\n',
    });
    expect((await bench.run('show', 'both')).stdout).toContain('held, since 1 of them failed or was cancelled');
    expect(await bench.run('cancel', 'two', '--dependents', 'cancel')).toMatchObject({ code: 0 });
    expect(await bench.json<JobView>('show', 'both')).toMatchObject({ state: 'cancelled' });
  });
});

describe('jobs with dependents, without a node', () => {
  it('are cancelled with their queue only with --dependents', async () => {
    for (const id of ['reel-1', 'reel-2']) await bench.run('add', 'reels', '--create', '--id', id);
    await bench.run('add', 'reels', '--id', 'reel-3', '--after', 'reel-2');
    await bench.run('add', 'films', '--id', 'premiere', '--after', 'reel-1');
    const cancelAll = ['cancel', '--queue', 'reels', '--yes'];
    expect(await bench.run(...cancelAll)).toEqual({
      code: 1,
      stdout: 'cancelled 2 of 3 waiting jobs of queue reels\n',
      stderr:
        'longhaul: 1 job of queue reels not cancelled, because other jobs depend on it: use --dependents cancel or --dependents leave\n',
    });
    expect(await bench.json<JobView>('show', 'premiere')).toMatchObject({ state: 'waiting', label: 'blocked' });
    expect(await bench.run(...cancelAll, '--dependents', 'cancel')).toMatchObject({
      code: 0,
      stdout: 'cancelled 1 of 1 waiting job of queue reels\n',
    });
    expect(await bench.json<JobView>('show', 'premiere')).toMatchObject({ state: 'cancelled' });
  });
});

describe('a queue without a node', () => {
  it('is created, configured, paused and deleted', async () => {
    expect(await bench.run('queue', 'gone', '--create', 'concurrency=3')).toMatchObject({ code: 0 });
    const set = await bench.run('queue', 'gone', 'maxRuntime=2h', 'limits.memory=2GB', 'retention.done.for=3d');
    for (const text of ['concurrency', '2h', 'memory 2.0 GB', 'done 3d']) expect(set.stdout).toContain(text);
    expect((await bench.run('pause', 'gone', '--note', 'the disk')).stdout).toBe('queue gone: paused\n');
    expect((await bench.run('queue')).stdout).toMatch(/gone +paused +3 .*the disk/);
    expect((await bench.run('resume', 'gone')).stdout).toBe('queue gone: resumed\n');
    await bench.run('add', 'gone');
    await refused(1, 'this would delete queue gone with 1 job', 'queue', 'gone', '--delete');
    expect((await bench.run('queue', 'gone', '--delete', '--yes')).stdout).toBe('deleted queue gone with 1 job\n');
    expect((await bench.run('queue')).stdout).not.toContain('gone');
    await refused(1, 'there is no queue gone', 'add', 'gone');
    await refused(1, 'queue gone was deleted and accepts no jobs: create it again first', 'add', 'gone', '--create');
    expect(await bench.run('queue', 'gone', '--create')).toMatchObject({ code: 0 });
    expect(await bench.run('add', 'gone')).toMatchObject({ code: 0 });
    await refused(1, 'defines this queue: remove the file first', 'queue', 'films', '--delete', '--yes');
  });

  it('is created with a script that only its owner can access', async () => {
    bench.file('resize.sh', '#!/bin/sh\necho resized\n');
    expect(await bench.run('queue', 'resize', '--create', '--script', 'resize.sh')).toMatchObject({ code: 0 });
    expect(statSync(join(bench.home, 'queues/resize')).mode & 0o777).toBe(0o700);
    await refused(1, 'queue resize exists already', 'queue', 'resize', '--create');
  });

  it('has settings with descriptions', async () => {
    expect((await bench.run('config')).stdout).toMatch(/scriptDirs +none +default +directories for scripts/);
    const config = await bench.json<{ name: string; value: string }[]>('config', 'films');
    expect(config).toContainEqual(expect.objectContaining({ name: 'lease', value: '1m', about: expect.any(String) }));
  });

  it('inherits global settings, and shows where a value is set', async () => {
    const maxCrashes = async (...argv: string[]) =>
      (await bench.json<{ name: string }[]>('config', ...argv)).find(({ name }) => name === 'maxCrashes');
    expect(await maxCrashes('--global', 'maxCrashes=7')).toMatchObject({ value: '7', from: 'global' });
    expect((await bench.run('config', 'films')).stdout).toMatch(/maxCrashes +7 +global +how many/);
    expect(await maxCrashes('films', 'maxCrashes=8')).toMatchObject({ value: '8', from: 'queue' });
    expect(await maxCrashes('films', '--unset', 'maxCrashes')).toMatchObject({ value: '7', from: 'global' });
    expect(await maxCrashes('--global', '--unset', 'maxCrashes')).toMatchObject({ value: '5', from: 'default' });
    await refused(2, 'script: cannot be set for all queues', 'config', '--global', 'script=/bin/true');
    await refused(2, 'did you mean retries', 'config', '--global', '--unset', 'retrys');
    await refused(2, '--unset requires QUEUE or --global', 'config', '--unset', 'retries');
  });
});

it('prints a token once, stores its hash, lists and revokes it', async () => {
  const made = await bench.run('token', 'create', 'build', '--role', 'submit', '--expires', '90d');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^lh_[0-9a-f]{16}_[\w-]{43}\n$/) });
  const list = await bench.json<{ id: string; name: string; role: string }[]>('token');
  expect(list).toMatchObject([{ name: 'build', role: 'submit' }]);
  expect(JSON.stringify(list)).not.toContain('sha256');
  const records = await (await bench.longhaul()).store.records.list({ kind: 'token', limit: 10 });
  expect(JSON.stringify(records)).not.toContain(made.stdout.trim());
  const id = list[0]?.id ?? '';
  expect((await bench.run('token', 'revoke', id)).stdout).toBe(`token ${id} is revoked\n`);
  await refused(1, `there is no token ${id}`, 'token', 'revoke', id);
  await refused(2, 'must be one of read, submit, operate, admin, relay', 'token', 'create', 'x', '--role', 'root');
});

describe('a wrong command line', () => {
  it.each([
    [2, 'unknown command: lss; did you mean ls?', ['lss']],
    [2, 'has no option --sate; did you mean --state?', ['ls', '--sate', 'done']],
    [2, '--state needs a value', ['ls', '--state']],
    [2, 'must be one of draft', ['ls', '--state', 'asleep']],
    [2, '--limit must be an integer from 1 to 1000, not many', ['ls', '--limit', 'many']],
    [2, 'DATA is not valid JSON', ['add', 'films', '{']],
    [2, 'must be a duration', ['add', 'films', '--delay', 'soon']],
    [2, 'QUEUE is missing', ['add']],
    [1, 'there is no queue flims; did you mean films?', ['ls', 'flims']],
    [1, 'there is no queue flims (--create adds the job anyway); did you mean films?', ['add', 'flims']],
    [1, 'there is no queue flims, and no job with this id; did you mean films?', ['pause', 'flims']],
    [1, 'there is no job film-33; did you mean film-3?', ['show', 'film-33']],
    [1, 'has not started yet', ['logs', 'film-3']],
    [1, 'has no attempt 7', ['logs', 'film-3', '--attempt', '7']],
    [2, 'there is no setting concurency; did you mean concurrency?', ['queue', 'films', 'concurency=2']],
    [2, 'concurrency: must be a whole number', ['queue', 'films', 'concurrency=lots']],
    [2, 'put -- before COMMAND', ['run', 'make']],
    [2, 'COMMAND is missing', ['run', '--']],
    [2, '--env NO_SUCH_VARIABLE: NO_SUCH_VARIABLE is not set', ['run', '--env', 'NO_SUCH_VARIABLE', '--', 'make']],
    [1, 'no node runs on', ['run', '--', 'echo', 'hi']],
    [1, 'no node runs on', ['drain']],
    [2, 'is none of: a directory', ['ls', '--store', 'ftp://nowhere']],
    [1, '127.0.0.1:1', ['ls', '--store', 'http://127.0.0.1:1']],
    [2, 'did you mean progress?', ['report', 'progres', '40']],
    [2, 'works only in a script', ['report', 'progress', '40']],
    [2, 'SHELL must be bash or zsh', ['completion', 'fish']],
  ])('exits %i with the message: %s', async (code, message, line) => {
    await refused(code, message, ...line);
  });

  it('with a data directory that does not exist is refused, and nothing is created', async () => {
    const home = join(bench.folder, 'mistyped');
    await refused(1, 'there is no data directory at', 'ls', '--home', home);
    expect(existsSync(home)).toBe(false);
  });

  it('is not the closing of the pipe by its reader', async () => {
    const { code, stderr } = await bench.shell('set -o pipefail; longhaul help | head -1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('a schedule without a node', () => {
  const nightly = ['--queue', 'films', '--cron', '30 3 * * *', '--zone', 'Europe/Berlin'];

  it('is created, set again without a change, shown, paused, run and deleted', async () => {
    const made = await bench.run('schedule', 'set', 'nightly', ...nightly, '{"a":1}', '--tag', 'x', '--backlog', 'all');
    expect(made.stdout).toMatch(
      /^schedule nightly is created: every day at 03:30 \(Europe\/Berlin\), next run time 20/,
    );
    const again = await bench.json<{ outcome: string }>(
      'schedule',
      'set',
      'nightly',
      ...nightly,
      '{"a":1}',
      '--tag',
      'x',
      '--backlog',
      'all',
    );
    expect(again).toMatchObject({ outcome: 'unchanged', data: { a: 1 }, options: { tags: ['x'] }, backlog: null });
    await bench.run('schedule', 'pause', 'nightly', '--note', 'holidays');
    expect((await bench.run('schedule')).stdout).toMatch(/nightly +films +paused .*holidays/);
    const { stdout: id } = await bench.run('schedule', 'run', 'nightly');
    expect(await bench.json('show', id.trim())).toMatchObject({ tags: ['x', 'schedule:nightly'] });
    expect((await bench.run('schedule', 'show', 'nightly')).stdout).toContain('1 made, 0 skipped, 0 missed, 0 queued');
    await refused(1, 'confirm with --yes', 'schedule', 'delete', 'nightly');
    expect((await bench.run('schedule', 'delete', 'nightly', '--yes')).stdout).toBe('deleted schedule nightly\n');
  });

  it('is refused with the reason', async () => {
    const set = ['schedule', 'set', 'x', '--queue', 'films'];
    await refused(2, 'never fires: there is no such day', ...set, '--cron', '0 0 30 2 *');
    await refused(2, 'must be an IANA time zone', ...set, '--cron', '@daily', '--zone', 'Mars');
    await refused(2, 'must be at least a second', ...set, '--every', '10ms');
    await refused(2, 'did you mean show?', 'schedule', 'shw', 'x');
    await refused(1, 'there is no schedule x', 'schedule', 'run', 'x');
    await refused(
      1,
      'there is no queue flms; create one with longhaul queue NAME --create; did you mean films?',
      'schedule',
      'set',
      'x',
      '--queue',
      'flms',
      '--every',
      '1h',
    );
  });
});

it('shows waiting jobs of a queue without any worker as such in queue, top and ls', async () => {
  await bench.run('queue', 'unworked', '--create');
  await bench.run('add', 'unworked', '--id', 'alone-1');
  const list = (await bench.run('queue')).stdout;
  expect(list).toMatch(/unworked +no worker .*no worker is registered for this queue/);
  expect((await bench.run('queue', 'unworked')).stdout).toMatch(/waits +no worker is registered for this queue/);
  const text = '1 job of queue unworked waits: no worker is registered for it';
  expect((await bench.run('top', '--once')).stdout).toContain(text);
  expect((await bench.run('ls', 'unworked')).stderr).toContain(text);
  await bench.run('pause', 'unworked');
  expect((await bench.run('queue', 'unworked')).stdout).not.toContain('no worker');
  await bench.run('queue', 'unworked', '--delete', '--yes');
});
