/** The promises of the library, the same over every store. One small file for each store runs it. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Longhaul, StandardSchema, StoreEvent } from '../../src/library/index.ts';
import { advance, fail, forward, LonghaulError, release, retry } from '../../src/library/index.ts';
import { waitFor as waitAtMost } from '../../src/testing/index.ts';
import { handlesLeftBy } from '../support/open-handles.ts';
import { closingAfterEach } from './opened.ts';

/** A limit for what hangs: it costs nothing where it is not reached. */
const DEADLINE_MS = 30_000;
const waitFor = <T>(what: string, ask: () => T | Promise<T>) => waitAtMost(what, ask, { deadlineMs: DEADLINE_MS });

async function textIn(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

export function libraryOver(name: string, open: () => Promise<Longhaul>): void {
  describe(`The library over ${name}`, () => {
    const connectFresh = closingAfterEach(open);

    test('A job is added and run, and its typed result is returned.', async () => {
      const longhaul = await connectFresh();
      const sums = longhaul.queue<{ a: number; b: number }, number>('sums');
      sums.work(async (job) => job.data.a + job.data.b);
      const answer = await sums.run({ a: 2, b: 3 });
      expectTypeOf(answer).toEqualTypeOf<number>();
      expect(answer).toBe(5);
    });

    test('A throttle with a rate holds jobs back, and a retry that names it pauses it.', async () => {
      const longhaul = await connectFresh();
      await longhaul.setThrottle('api', { rate: '2/1h', by: 'model', cost: 'n' });
      const queue = longhaul.queue<{ model: string; n: number }, unknown>('calls');
      await queue.configure({ retries: 1, throttles: ['api'] });
      queue.work(async (job) => (job.data.model === 'busy' ? retry({ in: '1d', throttle: 'api' }) : 'done'));
      expect(await queue.run({ model: 'm', n: 2 })).toBe('done');
      const second = await queue.add({ model: 'm', n: 1 });
      await queue.add({ model: 'busy', n: 1 });
      const busy = async () =>
        (await longhaul.throttles()).find(({ key, nextStartAt }) => key === 'busy' && nextStartAt !== null);
      const { nextStartAt } = (await waitFor('the throttle is paused', busy)) as { nextStartAt: number };
      expect(nextStartAt).toBeGreaterThan(Date.now() + 80_000_000);
      expect((await longhaul.find(second.id))?.state).toBe('waiting');
      await expect(longhaul.setThrottle('api', { rate: '2/1h', cost: 'n', speed: 1 } as never)).rejects.toThrow(
        'speed',
      );
      expect(() => retry({ in: 1, throttle: 'no name' })).toThrow('throttle');
    });

    test('Closing a connection leaves no timer, socket or thread of it or its worker.', async () => {
      const left = await handlesLeftBy(async () => {
        const longhaul = await open();
        const queue = longhaul.queue<number, number>('closed');
        queue.work(async (job) => job.data + 1);
        expect(await queue.run(1)).toBe(2);
        await longhaul.close();
      });
      expect(left).toEqual([]);
    });

    test('A handler receives data, attempt, token, tags, and the checkpoint of an earlier attempt.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string, unknown>('q');
      await queue.configure({ retries: 1, backoff: 0 });
      queue.work(async (job) => {
        if (job.attempt > 1)
          return [job.lastCheckpoint, job.attempt, job.failures, job.tags, job.name, typeof job.token];
        job.checkpoint({ at: 7 });
        await waitFor('the checkpoint is kept', async () => (await longhaul.find(job.id))?.checkpoint);
        throw new Error('once');
      });
      expect(await queue.run('x', { tags: ['t'], name: 'n' })).toEqual([{ at: 7 }, 2, 1, ['t'], 'n', 'number']);
    });

    test('Global settings reach a worker at once, and each setting shows where it was set.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('inherits');
      const from = async (name: string) => (await queue.explain()).find((each) => each.name === name)?.from;
      expect([await from('retries'), (await longhaul.settings()).retries]).toEqual(['default', 0]);
      queue.work(async (job) => {
        if (job.attempt === 1) throw new Error('once');
        return job.attempt;
      });
      await longhaul.configure({ retries: 2, backoff: 0 });
      expect(await queue.run('x')).toBe(2);
      expect([await from('retries'), (await queue.settings()).retries]).toEqual(['global', 2]);
      await queue.configure({ retries: 1 });
      expect([await from('retries'), await from('maxCrashes')]).toEqual(['queue', 'default']);
      expect(await queue.unset('retries')).toMatchObject({ retries: 2 });
      expect(await longhaul.unset('retries')).toMatchObject({ retries: 0 });
      expect(await from('retries')).toBe('default');
      await expect(longhaul.configure({ script: '/bin/true' })).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining('cannot be set for all queues: a script belongs to one queue'),
      });
    });

    test('A worker runs as many jobs at once as it has capacity for, and jobs run where their resources are.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string>('units');
      const [gates, most] = [new Map<string, () => void>(), { cpu: 0 }];
      const handler = (job: { readonly id: string }) =>
        new Promise<void>((resolve) => {
          gates.set(job.id, resolve);
          most.cpu = Math.max(most.cpu, gates.size);
        });
      const open = (id: string): void => {
        gates.get(id)?.();
        gates.delete(id);
      };
      const small = queue.work(handler, { concurrency: 5, offers: { cpu: 2 } });
      await small.ready;
      const jobs = await queue.addAll(['a', 'b', 'c'], { needs: { cpu: 1 } });
      const large = await queue.add('large', { needs: { gpu: 1 } });
      await waitFor('two of them run', () => gates.size === 2);
      expect(await longhaul.find(large.id)).toMatchObject({
        label: 'throttled',
        reason: 'needs gpu=1, and no registered worker has that capacity',
      });
      const [first = ''] = gates.keys();
      open(first);
      await waitFor('the third has the room of the first', () => gates.size === 2 && !gates.has(first));
      expect(most.cpu).toBe(2);
      const gpu = queue.work(handler, { concurrency: 5, offers: { gpu: 1 } });
      await waitFor('the one that needs another worker', () => gates.has(large.id));
      expect(gpu.running().map(({ job }) => job.id)).toEqual([large.id]);
      for (const id of gates.keys()) open(id);
      await Promise.all([...jobs, large].map((job) => job.finished()));
    });

    test('A job waits for others, and finds their results when it runs.', async () => {
      const longhaul = await connectFresh();
      const parts = longhaul.queue<number, number>('parts');
      const sums = longhaul.queue<null, number>('sums');
      const added = await parts.addAll([1, 2, 3]);
      const sum = await sums.add(null, { dependsOn: added.map(({ id }) => id) });
      expect(await longhaul.find(sum.id)).toMatchObject({ label: 'blocked', reason: 'waits for 3 of 3 jobs' });
      sums.work(async (job) => {
        const parents = await job.parents();
        expect(parents.map(({ state, attachments }) => [state, attachments])).toEqual(
          [1, 2, 3].map(() => ['done', []]),
        );
        return parents.reduce((total, { result }) => total + Number(result), 0);
      });
      parts.work(async (job) => job.data * 10);
      expect(await sum.finished()).toBe(60);
      await expect(sums.add(null, { dependsOn: ['none'] })).rejects.toThrow(/jobs that do not exist: none/);
    });

    test('A job that advances to wait for jobs that do not exist has failed, with the reason.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      queue.work(() => advance({ queue: 'second', dependsOn: ['none'] }));
      const job = await queue.add(null);
      await expect(job.finished()).rejects.toThrow(/cannot wait for jobs that do not exist: none/);
    });

    test('Progress and log lines are visible while the job runs.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      let finish = (): void => undefined;
      queue.work(async (job) => {
        job.progress(40, 'pass 1');
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      });
      const job = await queue.add(null);
      const view = await waitFor('progress', async () => {
        const found = await longhaul.find(job.id);
        return found?.progress === null ? null : found;
      });
      expect(view).toMatchObject({ state: 'running', progress: { percent: 40, text: 'pass 1' } });
      finish();
      await job.finished();
    });

    test('The log lines of a handler are kept, and read while the job runs and after it.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<number>('logs');
      let finish = (): void => undefined;
      queue.work(async (job) => {
        if (job.data === 0) return;
        for (let at = 1; at <= job.data; at += 1) job.log(`line ${at} 😀`);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        job.log('last');
      });
      const all = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1} 😀\n`).join('');
      const logOf = (id: string) => textIn(longhaul.logs(id));
      const job = await queue.add(1_000);
      await waitFor('the lines are kept', async () => (await logOf(job.id)) === all(1_000));
      const followed = textIn(longhaul.logs(job.id, { follow: true }));
      finish();
      await job.finished();
      expect(await logOf(job.id)).toBe(`${all(1_000)}last\n`);
      expect(await followed).toBe(`${all(1_000)}last\n`);
      const silent = await queue.add(0);
      await silent.finished();
      expect(await logOf(silent.id)).toBe('');
      await expect(logOf('none')).rejects.toThrow('there is no job none');
      await expect(textIn(longhaul.logs(job.id, { attempt: 2 }))).rejects.toThrow('has no attempt 2');
    });

    test('A handler that throws has failed; a waiting caller gets the reason, and the failure has a group.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      queue.work(async () => {
        throw new TypeError('no film 4711');
      });
      const job = await queue.add(null);
      await expect(job.finished()).rejects.toMatchObject({
        code: 'job-ended-badly',
        message: expect.stringContaining('no film 4711'),
      });
      expect(await queue.failures()).toMatchObject([
        { group: expect.stringContaining('TypeError'), count: 1, sampleId: job.id },
      ]);
    });

    test('A handler may return retry, release, advance, fail and forward.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string, unknown>('first');
      await queue.configure({ retries: 1 });
      const seen: string[] = [];
      longhaul.work<string, unknown>(['first', 'second'], async (job) => {
        seen.push(`${job.queue}:${job.data}:${job.attempt}`);
        if (job.attempt > 1) return 'ended';
        if (job.data === 'retry') return retry({ in: 0 });
        if (job.data === 'release') return release();
        if (job.data === 'advance') return advance({ queue: 'second' });
        if (job.data === 'fail') return fail('for good', { group: 'mine', final: true });
        return forward('http://example.test/q/x');
      });
      expect(await queue.run('retry')).toBe('ended');
      expect(await queue.run('release')).toBe('ended');
      expect(await queue.run('advance')).toBe('ended');
      await expect(queue.run('fail')).rejects.toThrow('for good');
      const forwarded = await queue.add('forward');
      await forwarded.finished();
      expect(await longhaul.find(forwarded.id)).toMatchObject({
        label: 'relayed',
        forwardedTo: 'http://example.test/q/x',
      });
      expect(seen).toContain('second:advance:2');
      expect(await queue.failures()).toMatchObject([{ group: 'mine' }]);
    });

    test('A cancelled job whose handler ignores its signal ends after its grace; the slot is free when the handler ends.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string, string>('deaf');
      await queue.configure({ grace: '50ms' });
      const events: string[] = [];
      let end = (_result: string): void => undefined;
      const work = queue.work(
        (job) => (job.data === 'deaf' ? new Promise<string>((resolve) => (end = resolve)) : Promise.resolve('ran')),
        { maxAbandoned: 1, onEvent: ({ type }) => void events.push(type) },
      );
      const deaf = await queue.add('deaf');
      await waitFor('it runs', () => work.running().length === 1);
      await longhaul.cancel(deaf.id);
      await expect(deaf.finished()).rejects.toThrow('cancelled');
      const row = (await longhaul.history(deaf.id)).at(-1);
      expect(row).toMatchObject({ event: 'cancelled', note: expect.stringContaining('its code may still run') });
      const shown = async () => (await longhaul.workers()).find(({ id }) => id === work.id)?.info;
      await waitFor('the reason is shown', async () => (await shown())?.includes('maxAbandoned is 1'));
      const other = await queue.add('other');
      expect(work.running()).toMatchObject([{ job: { id: deaf.id }, isAbandoned: true }]);
      end('too late');
      expect(await other.finished()).toBe('ran');
      expect(await longhaul.find(deaf.id)).toMatchObject({ state: 'cancelled', result: null });
      expect(events).toEqual(expect.arrayContaining(['abandoned', 'draining', 'late-outcome', 'resumed']));
      await waitFor('the reason is gone', async () => (await shown()) === '{}');
    });

    test('Cancelling a running job aborts its signal and ends it cancelled.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      queue.work((job) => untilAborted(job.signal), {
        lease: '1s',
      });
      const job = await queue.add(null);
      await waitFor('it runs', async () => (await longhaul.find(job.id))?.state === 'running');
      expect(await longhaul.cancel(job.id)).toMatchObject({ ok: true, outcome: 'asked' });
      await expect(job.finished()).rejects.toThrow('was cancelled');
    });

    test('A schema checks data on add and before the handler, and names the path of a problem.', async () => {
      const longhaul = await connectFresh();
      const schema = evenNumbers();
      const queue = longhaul.queue('even', { schema });
      await expect(queue.add(3)).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining('must be even'),
      });
      const unchecked = longhaul.queue<number>('even');
      const bad = await unchecked.add(5);
      let calls = 0;
      queue.work(async (job) => {
        calls += 1;
        return job.data / 2;
      });
      await expect(bad.finished()).rejects.toThrow('must be even');
      expect(calls).toBe(0);
      expect(await queue.run(8)).toBe(4);
    });

    test('A schema may transform and default: the given data is stored, the handler gets the output.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('rows', { schema: rows() });
      queue.work(async ({ data }) => data.rows * data.factor);
      const job = await queue.add({ rows: '21' });
      expect(await job.finished()).toBe(42);
      expect(await longhaul.find(job.id)).toMatchObject({ data: { rows: '21' }, attempt: 1 });
      expect(await queue.run({ rows: '2', factor: 5 })).toBe(10);
      // @ts-expect-error: the input of the schema has a text.
      await expect(queue.add({ rows: 21 })).rejects.toMatchObject({ code: 'bad-input' });
      await expect(queue.schedule('nightly', { every: '1d', data: { rows: '7' } })).resolves.toMatchObject({
        data: { rows: '7' },
      });
    });

    test('A handler that is not a function is refused by work().', async () => {
      const longhaul = await connectFresh();
      const refused = { code: 'bad-input', message: expect.stringContaining('handler: must be a function') };
      expect(() => longhaul.queue('q').work('./encode.js' as never)).toThrow(expect.objectContaining(refused));
      expect(() => longhaul.work(['q'], undefined as never)).toThrow(expect.objectContaining(refused));
      const list = { code: 'bad-input', message: expect.stringContaining('queues: must be a list') };
      expect(() => longhaul.work('q' as never, () => null)).toThrow(expect.objectContaining(list));
      expect(() => longhaul.work([], () => null)).toThrow(/queues: must have at least one/);
    });

    test('A Date in data is refused with its path; a Date in a result becomes its text.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('dates');
      await expect(queue.add({ at: new Date(0) })).rejects.toThrow(/at: a Date becomes a text in JSON/);
      queue.work(async () => ({ at: new Date(0) }));
      expect(await queue.run(null)).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    });

    test('The same id is one job; a unique key returns its holder.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      expect(await queue.add(1, { id: 'a' })).toMatchObject({ outcome: 'added', id: 'a' });
      expect(await queue.add(2, { id: 'a' })).toMatchObject({ outcome: 'exists', id: 'a' });
      await queue.add(1, { id: 'b', unique: 'k' });
      expect(await queue.add(1, { unique: 'k' })).toMatchObject({ outcome: 'duplicate', id: 'b' });
    });

    test('Many are added at once, with options for each, and every one is there.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<number>('many');
      const items = Array.from({ length: 2_345 }, (_, place) => place);
      const added = await queue.addAll(items, (_, place) => ({ id: `job-${place}`, priority: place % 3 }));
      expect(added).toHaveLength(2_345);
      expect(await queue.count()).toMatchObject({ waiting: 2_345 });
      expect((await queue.peek(2)).map(({ id }) => id)).toEqual(['job-0', 'job-3']);
    });

    test('A paused queue accepts jobs and starts none; a resumed one continues at once.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<number, number>('q');
      await queue.pause('for the night');
      const work = queue.work(async (job) => job.data);
      await work.ready;
      const job = await queue.add(1);
      expect(await longhaul.find(job.id)).toMatchObject({
        label: 'paused',
        reason: expect.stringContaining('for the night'),
      });
      await queue.resume();
      expect(await job.finished()).toBe(1);
    });

    test('A queue that is down refuses, and the error carries the refusal.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue('q');
      await queue.down();
      const error = await queue.add(1).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(LonghaulError);
      expect(error).toMatchObject({ code: 'refused', refusal: { code: 'queue-down' } });
    });

    test('A deleted queue is gone with its jobs and refuses new ones, until it is configured again.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<number>('q');
      await queue.configure({ priority: 3 });
      await queue.add(1);
      await expect(queue.delete()).rejects.toMatchObject({ code: 'refused' });
      expect(await queue.delete({ jobs: true })).toEqual({ jobs: 1 });
      expect(await longhaul.queues()).toEqual([]);
      await expect(queue.add(2)).rejects.toMatchObject({ code: 'refused', refusal: { code: 'queue-deleted' } });
      expect(await queue.configure({ retries: 2 })).toMatchObject({ state: 'up', priority: 0, retries: 2 });
      await queue.add(3);
      expect(await longhaul.queues()).toMatchObject([{ queue: 'q', waiting: 1 }]);
    });

    test('Every job of a queue with equal data is cancelled, whatever the order of its keys.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<Record<string, number>>('q');
      await queue.addAll([
        { a: 1, b: 2 },
        { b: 2, a: 1 },
        { a: 1, b: 3 },
      ]);
      expect(await queue.cancelEqual({ a: 1, b: 2 })).toHaveLength(2);
      expect(await queue.count()).toMatchObject({ waiting: 1, cancelled: 2 });
    });

    test('stop() gives running jobs their drain, then releases the rest to the front, and not as failures.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string, string>('q');
      const work = queue.work((job) => untilAborted(job.signal), { drain: '50ms' });
      const job = await queue.add('x', { priority: 5 });
      await queue.add('y', { id: 'y', priority: -5, delay: '1h' });
      await waitFor('it runs', () => work.running().length === 1);
      await work.stop();
      expect(await longhaul.find(job.id)).toMatchObject({
        state: 'waiting',
        failures: 0,
        crashes: 0,
        interruptions: 1,
      });
      expect((await longhaul.workers()).length).toBe(0);
    });

    test('Every change is an event, with queue and state.', async () => {
      const longhaul = await connectFresh();
      const heard: StoreEvent[] = [];
      longhaul.subscribe((events) => heard.push(...events));
      const queue = longhaul.queue('q');
      queue.work(async () => 'x');
      const job = await queue.add(null);
      await job.finished();
      await waitFor('the last event', () => heard.some(({ type }) => type === 'completed'));
      const mine = heard.filter(({ id, type }) => id === job.id && type !== 'progress');
      expect(mine.map(({ type, state }) => `${type}:${state}`)).toEqual([
        'added:waiting',
        'claimed:running',
        'completed:done',
      ]);
    });

    test('A draft waits for its commit.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<number, number>('q');
      queue.work(async (job) => job.data);
      const job = await queue.add(3, { draft: true });
      expect((await longhaul.find(job.id))?.label).toBe('draft');
      expect(await longhaul.commit(job.id)).toMatchObject({ ok: true });
      expect(await job.finished()).toBe(3);
    });

    test('A signal ends the wait for a result, and so does closing the connection.', async () => {
      const longhaul = await connectFresh();
      const job = await longhaul.queue('q').add(null);
      const stop = new AbortController();
      const first = job.finished({ signal: stop.signal });
      stop.abort(new Error('enough'));
      await expect(first).rejects.toThrow('enough');
      const second = job.finished().catch((error: unknown) => error);
      await longhaul.close();
      expect(await second).toMatchObject({ code: 'store-closed' });
    });

    test.each([
      [
        'data that is no JSON',
        (longhaul: Longhaul) => longhaul.queue('q').add({ f: () => 1 }),
        'f: a function is not JSON',
      ],
      ['data that is too large', (longhaul: Longhaul) => longhaul.queue('q').add('x'.repeat(300_000)), 'attachment'],
      [
        'an unknown option',
        (longhaul: Longhaul) => longhaul.queue('q').add(1, { retrys: 1 } as never),
        'did you mean retries?',
      ],
      [
        'an unknown setting',
        (longhaul: Longhaul) => longhaul.queue('q').configure({ leas: 1 } as never),
        'did you mean lease?',
      ],
    ])('Bad input is refused with what would be right, and nothing is written: %s', async (_name, act, words) => {
      const longhaul = await connectFresh();
      await expect(act(longhaul)).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(words) });
      expect(await longhaul.queue('q').count()).toMatchObject({ waiting: 0, draft: 0 });
    });

    test('A working process fires schedules; setting the same definition again changes nothing.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<{ n: number }, number>('q');
      const ran: string[] = [];
      queue.work(async (job) => ran.push(job.id));
      const made = await queue.schedule('tick', { every: '1s', data: { n: 1 }, options: { tags: ['t'] } });
      expect(made).toMatchObject({ outcome: 'created', words: 'every second', queue: 'q', overlap: 'skip' });
      expect(await queue.schedule('tick', { every: 1_000, data: { n: 1 }, options: { tags: ['t'] } })).toMatchObject({
        outcome: 'unchanged',
      });
      await waitFor('two jobs of the schedule', () => ran.length >= 2);
      expect(new Set(ran).size).toBe(ran.length);
      expect((await longhaul.find(ran[0] ?? ''))?.tags).toEqual(['t', 'schedule:tick']);
      expect(await longhaul.schedules.pause('tick', 'enough')).toMatchObject({
        ok: true,
        schedule: { isPaused: true },
      });
      expect(await longhaul.schedules.find('tick')).toMatchObject({ note: 'enough', nextAt: null });
      expect(await longhaul.schedules.list()).toHaveLength(1);
      const now = await longhaul.schedules.runNow('tick');
      await waitFor('the job by hand', () => now.ok && ran.includes(now.id));
      expect(await longhaul.schedules.resume('tick')).toMatchObject({ ok: true, schedule: { isPaused: false } });
      expect(await longhaul.schedules.delete('tick')).toEqual({ ok: true });
      expect(await longhaul.schedules.find('tick')).toBeNull();
      expect(await longhaul.schedules.pause('tick')).toMatchObject({ ok: false, refusal: { code: 'not-found' } });
    });

    test('A bad queue name and bad work options are refused at once.', async () => {
      const longhaul = await connectFresh();
      expect(() => longhaul.queue('a/b')).toThrow('queue name');
      expect(() => longhaul.queue('q').work(async () => 1, { concurency: 2 } as never)).toThrow(
        'did you mean concurrency?',
      );
      expect(() => longhaul.queue('q').work(async () => 1, { concurrency: 0 })).toThrow('whole number from 1');
    });
  });
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

/** A hand-written validator: any that follows the convention will do. */
function evenNumbers() {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof value === 'number' && value % 2 === 0 ? { value } : { issues: [{ message: 'must be even', path: [] }] },
    },
  };
}

/** Like zod's `object({ rows: string().transform(Number), factor: number().default(2) })`. */
function rows(): StandardSchema<{ rows: string; factor?: number }, { rows: number; factor: number }> {
  const validate = (value: unknown) => {
    const { rows: text, factor = 2 } = value as { rows: unknown; factor?: number };
    if (typeof text !== 'string') return { issues: [{ message: 'must be a text', path: ['rows'] }] };
    return { value: { rows: Number(text), factor } };
  };
  return { '~standard': { version: 1, vendor: 'test', validate } };
}
