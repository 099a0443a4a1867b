/** `chaos` of the testing kit: which faults find which mistakes of a handler. */
import { expect, test } from 'vitest';
import type { ActiveJob } from '../../src/library/index.ts';
import { chaos, connectForTests, effect } from '../../src/testing/index.ts';

const seed = 7;

test('A handler whose effects have idempotency keys in steps is without findings, under every fault.', async () => {
  const report = await chaos(
    async (job: ActiveJob<{ order: number }>) => {
      await job.step('charge', () => effect('charge card', { idempotencyKey: `${job.id}/charge` }));
      await job.step('mail', () => effect('send mail', { idempotencyKey: `${job.id}/mail` }));
      return job.data.order;
    },
    { data: { order: 7 }, seed },
  );
  expect(report.findings).toEqual([]);
  expect(report.effects).toEqual({ 'charge card': 1, 'send mail': 1 });
  expect(report.points.slice(0, 6)).toEqual([
    'start',
    'before step charge',
    'before effect charge card',
    'after effect charge card',
    'after the function of step charge',
    'after step charge',
  ]);
  expect(report.runs).toBe(1 + 4 * report.points.length + 20);
});

test('An effect outside of steps happens twice after each fault behind it, and the finding says how to repeat it.', async () => {
  const handler = async (job: ActiveJob) => {
    await effect('charge card');
    await job.step('mail', () => effect('send mail', { idempotencyKey: job.id }));
  };
  const report = await chaos(handler, { seed, faults: ['kill'], rounds: 0 });
  expect(report.repeated).toEqual(['charge card']);
  const faults = report.findings.map((finding) => finding.faults);
  expect(faults).toContain('kill at end');
  expect(faults).toContain('kill after step mail');
  expect(faults).not.toContain('kill before effect charge card');
  const again = await chaos(handler, { seed, only: 'kill after step mail', rounds: 0 });
  expect(again).toMatchObject({ runs: 2, repeated: ['charge card'] });
  expect(again.findings[0]?.message).toBe(
    'kill after step mail: effect "charge card" happened 2 times, without faults once; ' +
      'repeat with chaos(handler, { seed: 7, only: "kill after step mail" })',
  );
});

test('A step whose worker dies between effect and record runs again; one whose result is kept does not.', async () => {
  const handler = async (job: ActiveJob) => job.step('charge', () => effect('charge card'));
  const report = await chaos(handler, { faults: ['kill'], rounds: 0 });
  expect(report.findings.map(({ kind, faults }) => `${kind}: ${faults}`)).toEqual([
    'repeated: kill after effect charge card',
    'repeated: kill after the function of step charge',
  ]);
  expect((await chaos(handler, { rounds: 0, mayRepeat: ['charge card'] })).findings).toEqual([]);
});

test('A frozen attempt continues after the job has ended: its signal aborts a moment late, and its steps are refused.', async () => {
  const refusals: string[] = [];
  const handler = async (job: ActiveJob) => {
    await job.step('prepare', () => 1);
    if (job.signal.aborted) return;
    await effect('publish');
    await job.step('log', () => 1).catch((error: Error) => refusals.push(error.message));
  };
  const report = await chaos(handler, { faults: ['freeze'], rounds: 0, only: 'freeze after step prepare' });
  expect(report.repeated).toEqual(['publish']);
  expect(refusals).toEqual([expect.stringContaining('lease')]);
});

test('Two attempts at the same time both publish, unless the second call is ignored by its key.', async () => {
  const publish = (key: object) => async () => effect('publish', key);
  expect((await chaos(publish({}), { faults: ['repeat'], rounds: 0 })).repeated).toEqual(['publish']);
  const keyed = await chaos(publish({ idempotencyKey: 'film 7' }), { faults: ['repeat'], rounds: 0 });
  expect(keyed.findings).toEqual([]);
});

test('An interruption aborts the signal: a handler that ends is run again, and one that continues completes.', async () => {
  const reasons: string[] = [];
  const heeding = async (job: ActiveJob) => {
    await effect('first');
    if (job.signal.aborted) reasons.push((job.signal.reason as Error).message);
    job.signal.throwIfAborted();
    await effect('second');
  };
  const report = await chaos(heeding, { faults: ['interrupt'], rounds: 0, only: 'interrupt after effect first' });
  expect(report.repeated).toEqual(['first']);
  expect(reasons).toEqual(['its worker stops']);
  const ignoring = async () => effect('first');
  expect((await chaos(ignoring, { faults: ['interrupt'], rounds: 0, only: 'effect' })).findings).toEqual([]);
});

test('A checkpoint before its effect loses the effect when the worker dies between them.', async () => {
  const handler = async (job: ActiveJob) => {
    for (let mail = Number(job.lastCheckpoint ?? 0) + 1; mail <= 3; mail += 1) {
      job.checkpoint(mail);
      await effect('mail');
    }
  };
  const { findings } = await chaos(handler, { faults: ['kill'], rounds: 0 });
  const before = findings.filter(({ faults }) => faults.startsWith('kill before effect'));
  expect(before.map(({ kind, effect: name }) => `${kind} ${name}`)).toEqual(Array(3).fill('missing mail'));
});

test('Sleeps of days, events and children take a moment, and their results are kept under every fault.', async () => {
  const handler = async (job: ActiveJob) => {
    const parts = await job.children<string>([1, 2].map((data) => ({ queue: 'parts', data })));
    await job.sleep('2d');
    const { by } = await job.waitForEvent<{ by: string }>('approval', { timeout: '7d' });
    const text = `${parts.map(({ result }) => result).join(' and ')}, approved by ${by}`;
    await job.step('publish', () => effect(text, { idempotencyKey: job.id }));
  };
  const report = await chaos(handler, {
    events: { approval: { by: 'anna' } },
    queues: { parts: async (job) => `part ${String(job.data)}` },
    rounds: 10,
    seed,
  });
  expect(report.findings).toEqual([]);
  expect(report.effects).toEqual({ 'part 1 and part 2, approved by anna': 1 });
});

test('The same seed draws the same faults; prepare runs before each run.', async () => {
  let prepared = 0;
  const handler = async (job: ActiveJob) => {
    await effect('one');
    await job.step('two', () => 2);
  };
  const options = { seed, rounds: 5, only: ', then ', prepare: () => void (prepared += 1) };
  const [first, second] = [await chaos(handler, options), await chaos(handler, options)];
  expect(prepared).toBe(12);
  expect(first.findings.length).toBeGreaterThan(0);
  expect(second).toEqual(first);
  expect((await chaos(handler, { ...options, seed: 8 })).findings).not.toEqual(first.findings);
});

test('A handler that fails or hangs without faults is an error; one that fails because of them is a finding.', async () => {
  const failing = () => Promise.reject(new Error('the disk is full'));
  await expect(chaos(failing)).rejects.toThrow('without faults, the job failed: the disk is full');
  const waiting = (job: ActiveJob) => job.waitForEvent('approval');
  await expect(chaos(waiting, { timeout: 100 })).rejects.toThrow('Give `events` for events it waits for');
  let calls = 0;
  const oneTime = async () => {
    calls += 1;
    if (calls > 1) throw new Error('it cannot run twice');
    await effect('one');
  };
  const prepare = () => void (calls = 0);
  const { findings } = await chaos(oneTime, { prepare, rounds: 0, faults: ['kill'], only: 'after effect' });
  expect(findings).toMatchObject([{ kind: 'failed', message: expect.stringContaining('it cannot run twice') }]);
});

test('Bad options are refused, and an effect outside of a handler is an error only while chaos runs.', async () => {
  const wrong = { faults: ['kil'], rounds: -1, seeed: 1 } as object;
  await expect(chaos(async () => 1, wrong)).rejects.toThrow(/faults\[0\]: .*kill.*; rounds: .*; seeed: is not known/);
  await expect(chaos('handler' as never)).rejects.toThrow('handler: must be a function');
  await effect('nothing');
  // Called from the context of the test, and not of the handler.
  let isCalled: () => void = () => undefined;
  const outside = new Promise<void>((resolve) => {
    isCalled = resolve;
  }).then(() => effect('lost'));
  const handler = async (): Promise<void> => {
    isCalled();
    await outside.catch(() => undefined);
  };
  await chaos(handler, { rounds: 0, faults: [] });
  await expect(outside).rejects.toThrow('was called outside of a handler');
});

test('Chaos leaves nothing behind that a connection of the test could see.', async () => {
  const { longhaul } = connectForTests();
  await chaos(async () => effect('one'), { rounds: 3, seed });
  expect(await longhaul.store.jobs.count()).toEqual([]);
  await longhaul.close();
});
