/** Durable steps of handlers, the same over every store. */
import { describe, expect, test } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { StepTimeout, Suspended } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { closingAfterEach } from './opened.ts';

export function stepsOver(name: string, open: () => Promise<Longhaul>): void {
  describe(`Steps over ${name}`, () => {
    const connectFresh = closingAfterEach(open);
    const isSuspended = (longhaul: Longhaul, id: string) =>
      waitFor('the job is suspended', async () => (await longhaul.find(id))?.label === 'suspended');

    test('A step runs once: a later attempt gets its kept result, also of a repeated name and within Promise.all.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      await queue.configure({ retries: 1, backoff: 0 });
      const runs: string[] = [];
      const run = (step: string) => () => {
        runs.push(step);
        return { step, at: new Date(0) };
      };
      queue.work(async (job) => {
        const first = await job.step('cut', run('first'));
        const both = await Promise.all([job.step('cut', run('second')), job.step('join', run('join'))]);
        if (job.attempt === 1) throw new Error('once');
        return [first, ...both];
      });
      const kept = (step: string) => ({ step, at: '1970-01-01T00:00:00.000Z' });
      const job = await queue.add(null);
      expect(await job.finished()).toEqual([kept('first'), kept('second'), kept('join')]);
      expect(runs).toEqual(['first', 'second', 'join']);
      expect((await longhaul.steps(job.id)).map((step) => [step.name, step.status, step.attempts])).toEqual([
        ['cut', 'done', 1],
        ['cut#2', 'done', 1],
        ['join', 'done', 1],
      ]);
    });

    test('A step is tried again within the attempt, fails by its timeout, and keeps its failure.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      let tries = 0;
      queue.work(async (job) => {
        const third = await job.step('flaky', () => (++tries < 3 ? Promise.reject(new Error('no')) : tries), {
          retries: 5,
          backoff: 1,
        });
        return job
          .step('slow', () => new Promise(() => undefined), { timeout: 20 })
          .catch((error: unknown) => [third, error instanceof StepTimeout]);
      });
      const job = await queue.add(null);
      expect(await job.finished()).toEqual([3, true]);
      expect(await longhaul.steps(job.id)).toMatchObject([
        { name: 'flaky', status: 'done', attempts: 3, failure: null },
        { name: 'slow', status: 'failed', attempts: 1, failure: 'step slow took longer than 20 ms' },
      ]);
    });

    test('The failure of a job names the step that failed, in its group and its message.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, null>('q');
      queue.work(async (job) => {
        await job.step('cut', () => 1);
        await job.step('upload', () => Promise.reject(new TypeError('disk 7 is full')));
        return null;
      });
      const job = await queue.add(null);
      await expect(job.finished()).rejects.toThrow('step upload: disk 7 is full');
      expect(await longhaul.find(job.id)).toMatchObject({
        failure: { group: 'TypeError: step upload: disk * is full', message: 'step upload: disk 7 is full' },
      });
      expect(await longhaul.steps(job.id)).toMatchObject([
        { name: 'cut' },
        { name: 'upload', failure: 'disk 7 is full' },
      ]);
    });

    test('A job waits for an event without a slot, and resumes the same attempt with its data.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      const seen: unknown[] = [];
      queue.work(async (job) => {
        await job.step('before', () => seen.push('before'));
        try {
          return [job.attempt, await job.waitForEvent('approval', { timeout: '7d' })];
        } catch (error) {
          seen.push(
            error instanceof Suspended,
            await job.step('after', () => 1).catch((e: unknown) => e instanceof Suspended),
          );
          return 'swallowed';
        } finally {
          seen.push('finally');
        }
      });
      const job = await queue.add(null);
      await isSuspended(longhaul, job.id);
      expect((await longhaul.find(job.id))?.reason).toMatch(/^waiting for approval until /);
      const other = await queue.add(null);
      await isSuspended(longhaul, other.id);
      seen.length = 0;
      expect(await longhaul.notify(job.id, 'approval', { by: 'anna' })).toMatchObject({ outcome: 'woken' });
      expect(await job.finished()).toEqual([1, { by: 'anna' }]);
      expect(seen).toEqual(['finally']);
      const events = (await longhaul.history(job.id)).map(({ event }) => event);
      expect(events).toEqual(['added', 'claimed', 'suspended', 'notified', 'resumed', 'completed']);
      expect(await longhaul.find(job.id)).toMatchObject({ attempt: 1, failures: 0 });
    });

    test('What a suspended handler catches, returns or throws is ignored, and its later calls reject.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<string, unknown>('q');
      const seen: unknown[] = [];
      queue.work(async (job) => {
        const caught = await job.sleep('2d').catch((error: unknown) => error);
        const later = [job.step('after', () => 1), job.waitForEvent('x'), job.parents()];
        const reasons = await Promise.all(later.map((call) => call.catch((error: unknown) => error)));
        seen.push([caught, ...reasons].every((error) => error instanceof Suspended));
        if (job.data === 'throws') throw new Error('ignored');
        return 'ignored';
      });
      const jobs = await queue.addAll(['returns', 'throws']);
      for (const { id } of jobs) await isSuspended(longhaul, id);
      expect(seen).toEqual([true, true]);
      expect(await longhaul.find(jobs[1]?.id ?? '')).toMatchObject({
        failures: 0,
        attempt: 1,
        reason: expect.stringMatching(/^sleeping until /),
      });
    });

    test('A suspension waits for steps in flight and keeps their results.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      let isOver = false;
      queue.work(async (job) => {
        const slow = job.step('slow', async () => {
          await new Promise((resolve) => setTimeout(resolve, 60));
          isOver = true;
          return 1;
        });
        await Promise.all([slow, job.waitForEvent('go')]).catch((error: unknown) => {
          expect(isOver).toBe(true);
          throw error;
        });
        return slow;
      });
      const job = await queue.add(null);
      await isSuspended(longhaul, job.id);
      expect(await longhaul.steps(job.id)).toMatchObject([
        { kind: 'event', status: 'waiting' },
        { name: 'slow', status: 'done', result: '1' },
      ]);
      await longhaul.notify(job.id, 'go');
      expect(await job.finished()).toBe(1);
    });

    test('A wait that the handler does not await suspends the job and raises no unhandled rejection.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      queue.work(async (job) => {
        void job.sleep('1d');
        await job.step('slow', () => new Promise((resolve) => setTimeout(resolve, 50)));
        await new Promise((resolve) => setTimeout(resolve, 20));
      });
      await isSuspended(longhaul, (await queue.add(null)).id);
    });

    test('An early event is kept, the first one counts, and the next wait gets the next one.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      const job = await queue.add(null);
      expect(await longhaul.notify(job.id, 'go', 1)).toMatchObject({ outcome: 'kept' });
      expect(await longhaul.notify(job.id, 'go', 2)).toMatchObject({ outcome: 'ignored' });
      queue.work(async (each) => [await each.waitForEvent('go'), await each.waitForEvent('go')]);
      await isSuspended(longhaul, job.id);
      expect(await longhaul.notify(job.id, 'go', 3)).toMatchObject({ outcome: 'woken' });
      expect(await job.finished()).toEqual([1, 3]);
    });

    test('A wait that is over throws StepTimeout, again in a later attempt, even if the event arrives meanwhile.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      await queue.configure({ retries: 1, backoff: 0 });
      queue.work(async (job) => {
        const error = await job.waitForEvent('go', { timeout: 30 }).catch((each: unknown) => each);
        if (!(error instanceof StepTimeout)) throw error;
        await longhaul.notify(job.id, 'go');
        if (job.attempt === 1) throw new Error('once');
        return [job.attempt, error.step];
      });
      expect(await queue.run(null)).toEqual([2, 'go']);
    });

    test('Children are added once and their results are returned.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      await queue.configure({ retries: 1, backoff: 0 });
      longhaul.queue<number, number>('parts').work(async (job) => job.data * 2);
      queue.work(async (job) => {
        const parts = [1, 2].map((data) => ({ queue: 'parts', data }));
        const results = await job.children<number>(parts);
        if (job.attempt === 1) throw new Error('once');
        return results.map(({ result, state }) => [result, state]);
      });
      expect(await queue.run(null)).toEqual([
        [2, 'done'],
        [4, 'done'],
      ]);
      expect((await longhaul.queue('parts').count()).done).toBe(2);
    });

    test('Bad names and waits inside a step are refused with a clear error.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      queue.work(async (job) => {
        const calls = [job.step('a#2', () => 1), job.sleep('soon' as never), job.step('outer', () => job.sleep('1d'))];
        return Promise.all(calls.map((call) => call.catch((error: unknown) => (error as Error).message)));
      });
      expect(await queue.run(null)).toEqual([
        expect.stringContaining('not end in # and a number'),
        expect.stringContaining('sleep: time'),
        'job.sleep() was called inside step outer: call it between steps',
      ]);
      await expect(longhaul.notify('x', '')).rejects.toMatchObject({ code: 'bad-input' });
    });

    test('The log of a resumed attempt continues.', async () => {
      const longhaul = await connectFresh();
      const queue = longhaul.queue<null, unknown>('q');
      queue.work(async (job) => {
        job.log(`at ${(await longhaul.steps(job.id)).length}`);
        return job.waitForEvent('go');
      });
      const job = await queue.add(null);
      await isSuspended(longhaul, job.id);
      await longhaul.notify(job.id, 'go');
      await job.finished();
      let text = '';
      for await (const part of longhaul.logs(job.id)) text += part;
      expect(text).toBe('at 0\nat 1\n');
    });
  });
}
