/** The end of isolated handlers that do not heed their signal: nothing of them is left, and their log is complete. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { AddedJob, Longhaul, Queue, Work, WorkOptions } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { readLiving } from '../../src/runner/process-tree/process-stat.ts';
import { waitFor } from '../../src/testing/index.ts';
import { startFixture } from '../support/processes.ts';
import { isFullSize } from '../support/test-size.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-ending-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fixture = (name: string) => new URL(`../fixtures/handlers/${name}`, import.meta.url);
const GRACE_MS = 200;

interface Stubborn {
  readonly longhaul: Longhaul;
  readonly queue: Queue;
  readonly work: Work;
  readonly job: AddedJob<unknown>;
  /** The isolated process, its child, and a child in a session of its own. */
  readonly pids: readonly number[];
  log(): string;
}

const opened: Longhaul[] = [];
let homes = 0;
afterEach(async () => {
  await Promise.all(opened.splice(0).map((longhaul) => longhaul.close()));
});

async function startStubborn(options: WorkOptions = {}, add = {}): Promise<Stubborn> {
  const home = join(folder, String(homes++));
  const longhaul = await connect(home);
  opened.push(longhaul);
  const queue = longhaul.queue('q');
  await queue.configure({ grace: GRACE_MS });
  const work = queue.work(fixture('stubborn.mjs'), { isolate: 'process', ...options });
  const job = await queue.add(null, add);
  const log = () => readLog(home, job.id);
  await waitFor('it runs', () => log().includes('line 20\n'), { deadlineMs: 20_000 });
  return { longhaul, queue, work, job, log, pids: JSON.parse(log().split('\n')[0] ?? '') as number[] };
}

function readLog(home: string, id: string): string {
  try {
    return readFileSync(join(home, 'jobs', id, 'attempts', '1', 'log'), 'utf8');
  } catch {
    return '';
  }
}

const alive = (pids: readonly number[]) =>
  pids.filter((pid) => !['zombie', null].includes(readLiving(pid) as 'zombie'));

/** Every line up to the last is in the log. */
function expectComplete(log: string): void {
  const [, ...lines] = log.split('\n').slice(0, -1);
  expect(lines).toEqual(lines.map((_, line) => `line ${line}`));
}

describe('An isolated process that ignores its signal', () => {
  it('is killed with all processes it started when its job is cancelled', async () => {
    const { longhaul, job, pids, log } = await startStubborn();
    expect(alive(pids)).toEqual(pids);
    await longhaul.cancel(job.id);
    await expect(job.finished()).rejects.toThrow(/cancelled/);
    expect(alive(pids)).toEqual([]);
    expect(await longhaul.find(job.id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    expectComplete(log());
  });

  it.runIf(isFullSize)('is killed when it exceeds its time limit, and its job has failed for that', async () => {
    const { longhaul, job, pids } = await startStubborn({}, { maxRuntime: 1_000 });
    await expect(job.finished()).rejects.toThrow(/longer than 1 s/);
    expect(alive(pids)).toEqual([]);
    expect(await longhaul.find(job.id)).toMatchObject({ failure: { group: 'timeout', detail: null } });
  });

  it.runIf(isFullSize)('is killed when its lease is lost', async () => {
    const { longhaul, work, job, pids } = await startStubborn({ concurrency: 1 });
    work.pause();
    await longhaul.failWorker(work.id);
    await waitFor('its processes are gone', () => alive(pids).length === 0);
    expect(await longhaul.find(job.id)).toMatchObject({ state: 'waiting' });
  });

  it.each([
    ['after the drain and its grace', { drainMs: 50 }] as const,
    ...(isFullSize ? [['at once by a forced stop', { force: true }] as const] : []),
  ] as const)('is killed when its worker stops, %s, and its job waits again', async (_when, options) => {
    const { longhaul, work, job, pids } = await startStubborn();
    await work.stop(options);
    expect(alive(pids)).toEqual([]);
    expect(await longhaul.find(job.id)).toMatchObject({ state: 'waiting', failures: 0, crashes: 0 });
  });

  it('ends with its worker, if the worker is killed', async () => {
    const home = join(folder, 'killed');
    const longhaul = await connect(home);
    opened.push(longhaul);
    const plan = { address: home, queues: ['q'], handler: './handlers/stubborn.mjs', reportsLines: true };
    const worker = await startFixture('isolating-worker.mjs', [JSON.stringify(plan)]);
    await worker.next(({ type }) => type === 'ready');
    await longhaul.queue('q').add(null);
    const first = await worker.next(({ type }) => type === 'line');
    const pids = JSON.parse(String(first['line'])) as number[];
    expect(alive(pids)).toEqual(pids);
    await worker.kill9();
    await waitFor('its processes are gone', () => alive(pids).length === 0);
  });
});

describe('An isolated process that is killed', () => {
  it('crashes its job, and takes the processes it started and no line of its log with it', async () => {
    const { longhaul, work, job, pids, log } = await startStubborn();
    work.pause();
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await waitFor('the job waits again', async () => (await longhaul.find(job.id))?.state === 'waiting');
    expect(alive(pids)).toEqual([]);
    const [lost] = (await longhaul.history(job.id)).filter(({ event }) => event === 'lost');
    expect(lost?.note).toBe('the process of its handler was killed by SIGKILL');
    expect(await longhaul.find(job.id)).toMatchObject({ crashes: 1, failures: 0 });
    expectComplete(log());
  });
});

describe('A handler that gives no sign of life', () => {
  it.each(['process', 'thread'] as const)('is ended, isolated in a %s', async (isolate) => {
    const longhaul = await connect('memory:');
    opened.push(longhaul);
    const queue = longhaul.queue('q');
    await queue.configure({ grace: GRACE_MS, maxSilence: 300 });
    const lines: string[] = [];
    queue.work(fixture('calls.mjs'), { isolate, onEvent: (event) => event.type === 'log' && lines.push(event.line) });
    const job = await queue.add({ do: 'spin', ms: 60_000 });
    await expect(job.finished()).rejects.toThrow(/no sign of life for 0.3 s/);
    expect(alive(isolate === 'process' ? [Number(lines[0]?.split(' ').at(-1))] : [])).toEqual([]);
    expect(await queue.run({ do: 'where' })).toMatchObject({ pid: expect.any(Number) });
  });
});
