/** Handlers in isolated processes and threads: the same calls as in the worker's process, and their output. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Longhaul, StandardSchema } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { itIf } from '../support/it-if.ts';
import { handlesLeftBy } from '../support/open-handles.ts';
import { isFullSize } from '../support/test-size.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-isolated-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fixture = (name: string) => new URL(`../fixtures/handlers/${name}`, import.meta.url);
const calls = fixture('calls.mjs');

const opened: Longhaul[] = [];
const open = async (address = 'memory:'): Promise<Longhaul> => {
  const longhaul = await connect(address);
  opened.push(longhaul);
  return longhaul;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((longhaul) => longhaul.close()));
});

function blockFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; ) continue;
}

interface Where {
  readonly pid: number;
  readonly threadId: number;
}

describe.each(['process', 'thread'] as const)('A handler isolated in a %s', (isolate) => {
  /** What threads share with processes is tested with processes alone at the small size. */
  const isShared = isolate === 'thread' && !isFullSize;

  it('receives its job, makes the same calls and returns the same outcomes as any handler', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<Record<string, unknown>, unknown>('q');
    await queue.configure({ retries: 1, backoff: 0 });
    await longhaul.work(['q', 'second'], calls, { isolate }).ready;
    const run = (name: string, options = {}) => queue.run({ do: name }, options);

    const [data, attempt, failures, tags, name, of, token, where] = (await run('describe', {
      tags: ['t'],
      name: 'n',
    })) as [unknown, unknown, unknown, unknown, unknown, unknown, unknown, Where];
    expect([data, attempt, failures, tags, name, of, token]).toEqual([
      { do: 'describe' },
      1,
      0,
      ['t'],
      'n',
      'q',
      'number',
    ]);
    expect(where.pid === process.pid).toBe(isolate === 'thread');
    expect(where.threadId === 0).toBe(isolate === 'process');

    const checkpoint = await queue.add({ do: 'checkpoint' });
    expect(await checkpoint.finished()).toEqual({ at: 7 });
    expect(await longhaul.find(checkpoint.id)).toMatchObject({ failures: 1, attempt: 2 });
    const parents = await queue.addAll([{ do: 'retry' }, { do: 'release' }]);
    const child = await queue.add({ do: 'parents' }, { dependsOn: parents.map(({ id }) => id) });
    expect(await child.finished()).toEqual([1, 0]);
    const failed = await queue.add({ do: 'fail' });
    await expect(failed.finished()).rejects.toThrow('it failed');
    expect(await longhaul.find(failed.id)).toMatchObject({ state: 'failed', attempt: 1, failure: { group: 'chosen' } });
    const final = await queue.add({ do: 'final' });
    await expect(final.finished()).rejects.toThrow('no further attempt');
    expect(await longhaul.find(final.id)).toMatchObject({
      attempt: 1,
      failure: { detail: expect.stringMatching(/calls\.mjs/) },
    });
    const moved = await queue.add({ do: 'advance' });
    expect(await moved.finished()).toBe('advanced');
    const forwarded = await queue.add({ do: 'forward' });
    await forwarded.finished();
    expect(await longhaul.find(forwarded.id)).toMatchObject({ state: 'done' });
  });

  it('pauses a throttle with its retry', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('q');
    await longhaul.work(['q'], calls, { isolate }).ready;
    const paused = await queue.add({ do: 'pause' }, { retries: 1 });
    await waitFor('the retry', async () => (await longhaul.find(paused.id))?.failures === 1);
    const [throttle] = await longhaul.throttles();
    expect(throttle?.name).toBe('api');
    expect(throttle?.nextStartAt).toBeGreaterThan(Date.now() + 500_000);
  });

  itIf(!isShared)('receives what the schema returns, even if JSON could not hold it', async () => {
    const longhaul = await open();
    const schema: StandardSchema<{ do: string; at: number }, { do: string; at: Date }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => ({ value: { ...(value as { do: string }), at: new Date((value as { at: number }).at) } }),
      },
    };
    const queue = longhaul.queue<{ do: string; at: number }, unknown, { do: string; at: Date }>('q', { schema });
    queue.work(calls, { isolate });
    expect(await queue.run({ do: 'date', at: 5 })).toEqual([true, 5]);
  });

  it('reads and attaches files, and may return a result over the limit', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<{ do: string }, { names: string[]; large: string }>('q');
    await queue.work(calls, { isolate }).ready;
    const job = await queue.add({ do: 'files' }, { attach: { 'in.txt': Buffer.from('one two') } });
    const { names, large } = await job.finished();
    expect(names).toEqual(['bytes.txt', 'in.txt', 'stream.txt']);
    expect(large).toHaveLength(300_000);
    const files = longhaul.files(job.id);
    expect((await files.list()).map(({ name }) => name)).toContain('result.json');
    expect(await (await files.get('bytes.txt')).text()).toBe('ONE TWO');
    expect(await (await files.get('stream.txt')).text()).toBe('onetwo');
  });

  it('keeps steps, is suspended and resumed, and waits for children', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<{ do: string }, Record<string, unknown>>('q');
    const seen: string[] = [];
    await queue.work(calls, { isolate, onEvent: (event) => event.type === 'log' && seen.push(event.line) }).ready;
    const job = await queue.add({ do: 'steps' });
    const swallowing = await queue.add({ do: 'swallow' });
    for (const { id } of [job, swallowing]) {
      await waitFor('it is suspended', async () => (await longhaul.find(id))?.label === 'suspended');
      await longhaul.notify(id, 'go', { by: 'anna' });
    }
    const result = await job.finished();
    expect(result).toMatchObject({ attempt: 1, answer: { by: 'anna' }, late: true, large: 300_000, child: 'done' });
    const once = { token: expect.any(Number), at: '1970-01-01T00:00:00.000Z' };
    expect(result.once).toEqual(once);
    expect(result.token).toBeGreaterThan((result.once as { token: number }).token);
    expect(await swallowing.finished()).toEqual({ by: 'anna' });
    expect(seen).toContain('every call rejects');
    expect(seen.filter((line) => line.startsWith('the attempt is suspended: '))).toHaveLength(3);
  });

  it('has its output in the log, in order, from the first byte to the last', async () => {
    const address = join(folder, `output-${isolate}`);
    const longhaul = await open(address);
    const queue = longhaul.queue('q');
    const seen: string[] = [];
    queue.work(fixture('output.mjs'), {
      isolate,
      onEvent: (event) => event.type === 'log' && seen.push(event.line),
    });
    const lines = 500;
    const job = await queue.add({ lines, native: isolate === 'process' });
    await job.finished();
    const expected = ['at import'];
    for (let line = 0; line < lines; line += 1) {
      expected.push(`log ${line}`, `stdout ${line}`, `stderr ${line}`);
      if (line < 3 && isolate === 'process') expected.push(`native ${line}`, `trouble ${line}`);
    }
    expected.push('no newline at the end');
    expect(seen).toEqual(expected);
    const log = readFileSync(join(address, 'jobs', job.id, 'attempts', '1', 'log'), 'utf8');
    expect(log).toBe(expected.join('\n'));
  });

  itIf(!isShared)('that ends itself crashes its job, which says how, and the next one runs the job', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<object, Where>('q');
    queue.work(calls, { isolate });
    const first = await queue.run({ do: 'where' });
    const job = await queue.add({ do: 'exit' });
    const second = await job.finished();
    expect(await longhaul.find(job.id)).toMatchObject({ crashes: 1, failures: 0, attempt: 2 });
    const [lost] = (await longhaul.history(job.id)).filter(({ event }) => event === 'lost');
    expect(lost?.note).toBe('the process of its handler exited with code 3');
    expect([second.pid, second.threadId]).not.toEqual([first.pid, first.threadId]);
  });

  itIf(!isShared)('delays neither heartbeats nor other handlers while it blocks its thread', async () => {
    const longhaul = await open(join(folder, `spin-${isolate}`));
    const [busy, quick] = [longhaul.queue<object, Where>('busy'), longhaul.queue<number, number>('quick')];
    await busy.configure({ lease: 300, heartbeat: 75 });
    busy.work(calls, { isolate });
    quick.work((job) => job.data);
    const job = await busy.add({ do: 'spin', ms: 700 });
    await waitFor('it spins', async () => (await longhaul.find(job.id))?.state === 'running');
    let runs = 0;
    const finished = job.finished().then(() => true);
    while (!(await Promise.race([finished, quick.run(runs).then(() => false)]))) runs += 1;
    // None of them could run beside a handler that blocks their thread.
    expect(runs).toBeGreaterThan(0);
    expect(await longhaul.find(job.id)).toMatchObject({ attempt: 1, crashes: 0, state: 'done' });
  });

  itIf(!isShared)('is left by nothing after the connection is closed', async () => {
    const left = await handlesLeftBy(async () => {
      const longhaul = await connect('memory:');
      const queue = longhaul.queue<object, Where>('q');
      queue.work(calls, { isolate, concurrency: 2 });
      await Promise.all([queue.run({ do: 'where' }), queue.run({ do: 'where' })]);
      await longhaul.close();
    });
    expect(left).toEqual([]);
  });

  it('is asked to stop with the reason, and the outcome of a handler that heeds it counts', async () => {
    const longhaul = await open(join(folder, `heed-${isolate}`));
    const queue = longhaul.queue('q');
    queue.work(calls, { isolate });
    const job = await queue.add({ do: 'heed' });
    const log = () => readFileSync(join(folder, `heed-${isolate}`, 'jobs', job.id, 'attempts', '1', 'log'), 'utf8');
    await waitFor('it waits', () => {
      try {
        return log() === 'waits\n';
      } catch {
        return false;
      }
    });
    const progress = await waitFor('progress', async () => (await longhaul.find(job.id))?.progress);
    expect(progress).toMatchObject({ percent: 40, text: 'pass 1' });
    await longhaul.cancel(job.id);
    await expect(job.finished()).rejects.toThrow(/cancelled/);
    expect(log()).toBe('waits\nstops: cancel\n');
    expect(await queue.run({ do: 'where' })).toMatchObject({ pid: expect.any(Number) });
  });
});

describe('Isolated processes', () => {
  it('have ended a job only when its output was read, even if the worker was blocked meanwhile', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('q');
    const seen: string[] = [];
    const work = queue.work(calls, {
      onEvent(event) {
        if (event.type === 'log') seen.push(event.line);
        if (event.type === 'ended') seen.push('ended');
        // Progress, output and outcome arrive at once.
        if (event.type === 'started') setImmediate(() => blockFor(100));
      },
    });
    await work.ready;
    for (let job = 0; job < 3; job += 1) await queue.run({ do: 'report' });
    expect(seen.slice(0, 6)).toEqual(['the last line', 'ended', 'the last line', 'ended', 'the last line', 'ended']);
  });

  it('have ended a job only when all its calls were received, and its whole result', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<object, unknown>('q');
    await queue.configure({ retries: 1, backoff: 0 });
    // The first calls and the outcome arrive at once, and the other calls after them.
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type === 'started') setImmediate(() => blockFor(100));
    };
    await queue.work(calls, { isolate: 'process', onEvent }).ready;
    expect(await queue.run({ do: 'keep' })).toBe(5);
    expect(await queue.run({ do: 'large' })).toHaveLength(100_000);
  });

  it('are reused, and replaced after so many jobs', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<object, Where>('q');
    queue.work(calls, { isolate: 'process', maxJobsPerProcess: 2 });
    const pids: number[] = [];
    for (let job = 0; job < 5; job += 1) pids.push((await queue.run({ do: 'where' })).pid);
    expect(new Set(pids).size).toBe(3);
    expect([pids[0] === pids[1], pids[1] === pids[2], pids[2] === pids[3], pids[3] === pids[4]]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('are replaced after a job that leaves them with too much memory', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<object, Where & readonly [number, number]>('q');
    queue.work(calls, { isolate: 'process', maxMemory: '150 MB' });
    const first = await queue.run({ do: 'where' });
    expect((await queue.run({ do: 'where' })).pid).toBe(first.pid);
    expect((await queue.run({ do: 'grow' }))[0]).toBe(first.pid);
    expect((await queue.run({ do: 'where' })).pid).not.toBe(first.pid);
  });
});

describe('work() refuses', () => {
  const refusal = (work: () => { readonly ready: Promise<void> }) =>
    Promise.resolve()
      .then(() => work().ready)
      .then(
        () => 'nothing',
        (error: { code?: string; message: string }) => `${error.code} ${error.message.split('\n')[0]}`,
      );

  it.each([
    ['no-default.mjs', 'it has no default export: write `export default defineHandler(async (job) => …)`'],
    ['throws.mjs', 'it failed to load: the licence has expired'],
    ['typed.ts', 'this Node cannot load TypeScript: use a Node that strips types (22.18 or newer), start the worker'],
  ])('the module %s with one clear error', async (name, problem) => {
    if (name === 'typed.ts' && 'typescript' in process.features) return;
    const queue = (await open()).queue('q');
    for (const isolate of ['process', 'thread'] as const)
      expect(await refusal(() => queue.work(fixture(name), { isolate }))).toContain(
        `bad-input handler ${fixture(name).href}: ${problem}`,
      );
  });

  it('a missing module, a URL that is no file, and options that do not fit', async () => {
    const queue = (await open()).queue('q');
    expect(await refusal(() => queue.work(fixture('missing.mjs')))).toMatch(
      /^bad-input work: handler: the module .*missing\.mjs does not exist$/,
    );
    expect(await refusal(() => queue.work(new URL('https://example.com/a.js')))).toBe(
      'bad-input work: handler: must be the URL of a file, not https://example.com/a.js',
    );
    expect(await refusal(() => queue.work(calls, { isolate: 'thread', maxMemory: '1 GB' }))).toBe(
      "bad-input work: maxMemory: applies to isolate: 'process' only",
    );
    expect(await refusal(() => queue.work(() => 1, { isolate: 'process' }))).toMatch(
      /^bad-input work options: isolate: needs the URL of a module with the handler, not a function$/,
    );
    expect(await refusal(() => queue.work(calls, { maxJobsPerProcess: 0 }))).toMatch(/maxJobsPerProcess.*from 1/);
    expect(await refusal(() => queue.work('calls.mjs' as never))).toMatch(/must be a function or the URL of a module/);
  });
});
