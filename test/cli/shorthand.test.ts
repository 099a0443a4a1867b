/** Shorter input and clearer output of commands: id prefixes, filters, suggestions, what a change changed. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { CliBench } from './cli-bench.ts';

const bench = new CliBench();
const FIRST = '0190aaaa-0000-7000-8000-000000000001';
const SECOND = '0190aaaa-0000-7000-8000-000000000002';
const OTHER = 'report-of-june';

beforeAll(async () => {
  bench.queue('films', 'true');
  bench.queue('reports', 'true');
  for (const id of [FIRST, SECOND]) await bench.run('add', 'films', '--id', id);
  await bench.run('add', 'reports', '--id', OTHER);
});

describe('the beginning of an id', () => {
  it('stands for the only job that has it', async () => {
    expect(await bench.json<JobView>('show', 'report-of')).toMatchObject({ id: OTHER });
    expect((await bench.run('logs', 'report-of')).stderr).toContain(`job ${OTHER} has not started yet`);
    expect((await bench.run('track', 'report-of')).stdout).toBe(`job ${OTHER}: tracked\n`);
    expect((await bench.run('cancel', 'report-of')).stdout).toBe(`${OTHER}: cancelled\n`);
    expect((await bench.run('retry', 'report-of')).stdout).toBe(`${OTHER}: requeued\n`);
    await bench.run('add', 'films', '--id', 'after', '--after', 'report-of');
    expect(await bench.json<JobView>('show', 'after')).toMatchObject({ label: 'blocked' });
  });

  it('is refused with the candidates if several jobs have it', async () => {
    const result = await bench.run('cancel', '0190aaaa');
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('0190aaaa is ambiguous: it is the beginning of 2 job ids');
    for (const id of [FIRST, SECOND]) expect(result.stderr).toContain(id);
  });

  it('is never that of a job when it is a whole id', async () => {
    await bench.run('add', 'films', '--id', 'report-of');
    expect(await bench.json<JobView>('show', 'report-of')).toMatchObject({ id: 'report-of' });
  });

  it('does not pause a job where a queue was mistyped', async () => {
    expect((await bench.run('pause', 'report')).stderr).toContain(
      'there is no queue report, and no job with this id; did you mean reports?',
    );
  });
});

it('finds a generated id by its beginning', async () => {
  const id = (await bench.run('add', 'films')).stdout.trim();
  expect(await bench.json<JobView>('show', id.slice(0, 22))).toMatchObject({ id });
});

it('ls --queue lists the jobs of a queue, as ls QUEUE does', async () => {
  const named = await bench.json('ls', '--queue', 'reports');
  expect(named).toMatchObject({ jobs: [{ id: OTHER }] });
  expect(await bench.json('ls', 'reports')).toEqual(named);
  expect(await bench.run('ls', 'reports', '--queue', 'films')).toMatchObject({ code: 2 });
});

it('config prints only what changed, from the old to the new value', async () => {
  expect((await bench.run('config', 'films', 'retries=3')).stdout).toBe('retries: 0 → 3 (queue)\n');
  expect((await bench.run('config', 'films', 'retries=3')).stdout).toBe('no changes\n');
  expect((await bench.run('config', 'films', '--unset', 'retries')).stdout).toBe('retries: 3 → 0 (default)\n');
});

it('suggests the option, setting or command that begins with what was typed', async () => {
  expect((await bench.run('add', 'films', '--prio', '3')).stderr).toContain('did you mean --priority?');
  expect((await bench.run('config', 'films', 'prio=3')).stderr).toContain('did you mean priority?');
  expect((await bench.run('sched')).stderr).toContain('did you mean schedule?');
  expect((await bench.run('xyz')).stderr).toContain('longhaul help lists the commands');
});

it('a store where no folder can be created is refused at once', async () => {
  const message = 'the folder /proc/x cannot be created: the file system of /proc accepts no new folders';
  const error = await connect('/proc/x').catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: 'store-incompatible', message: expect.stringContaining(message) });
}, 20_000);
