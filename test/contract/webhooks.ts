/** The webhook outbox: the call that causes an event adds the webhook job to the queue `hooks`. */
import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import type { Webhook, WebhookEventName, WebhookRequest } from '../../src/core/webhooks/webhook.ts';
import { onceEventId, webhookJob } from '../../src/core/webhooks/webhook.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, release, retry, START, type Workbench } from './workbench.ts';

const URL_A = 'https://a.example/hook?x=1';
const URL_B = 'https://b.example/';
const ENDS: readonly WebhookEventName[] = ['done', 'failed', 'cancelled'];
const toA = (on: readonly WebhookEventName[] = ENDS, more: Partial<Webhook> = {}): Webhook => ({
  url: URL_A,
  on,
  ...more,
});

/** The jobs of the queue `hooks` in the order in which they were added. */
async function written(bench: Workbench): Promise<readonly Job[]> {
  const { jobs } = await bench.jobs.list({ queue: 'hooks', order: 'newest', limit: 100 });
  return [...jobs].reverse();
}

async function reported(bench: Workbench): Promise<readonly string[]> {
  const orders = (await written(bench)).map(({ data }) => JSON.parse(data) as WebhookRequest);
  return orders.map(({ event, job, percent }) => `${job} ${event}${percent === undefined ? '' : ` ${percent}`}`);
}

export function webhookContract(open: Open): void {
  it('adds the webhook job, complete, in the call that ends the job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { hooks: [toA(ENDS, { secret: 'billing' })] } });
    bench.pass(7);
    await bench.settle(job, { kind: 'complete', result: '"x"' });
    const [hook, ...more] = await written(bench);
    expect(more).toEqual([]);
    const at = START + 7;
    expect(hook).toMatchObject({
      id: `hook~done~${at}~a`,
      queue: 'hooks',
      name: 'a',
      state: 'waiting',
      createdAt: at,
      runAt: at,
      priority: 0,
      parents: null,
      dependents: 0,
      policy: { onDependencyFailed: 'run' },
      unique: { key: `a ${URL_A}`, scope: 'queue', until: 'ended', periodMs: 0 },
    });
    const order = { event: 'done', job: 'a', queue: 'q', attempt: 1, at, url: URL_A, secret: 'billing' };
    expect(hook?.data).toBe(JSON.stringify(order));
    expect(await bench.jobs.history(hook?.id ?? '')).toMatchObject([{ event: 'added', state: 'waiting' }]);
    expect(await bench.jobs.find(['a'])).toMatchObject([{ state: 'done', result: '"x"' }]);
    expect((await bench.claim({ queues: ['hooks'] })).map(({ id }) => id)).toEqual([hook?.id]);
  });

  it('reports every end of a job, and nothing that is not an end', async () => {
    const bench = await open();
    const policy = { hooks: [toA()] };
    const add = (id: string, more = {}) => bench.running({ id, policy: { ...policy, ...more } });
    await bench.settle(await add('failed'), fail());
    await bench.settle(await add('retried', { retries: 1 }), retry(1_000_000));
    await bench.settle(await add('forwarded'), { kind: 'forward', address: 'http://b/q/x/1' });
    await bench.add({ id: 'waiting', policy, runAt: START + 9_000_000 }, { id: 'draft', policy, draft: true });
    await bench.jobs.cancel([{ id: 'waiting' }, { id: 'draft' }]);
    const asked = await add('asked');
    await bench.jobs.cancel([{ id: 'asked' }]);
    await bench.settle(asked, complete);
    await bench.jobs.change([{ id: 'asked', tags: ['late'] }]);
    expect(await reported(bench)).toEqual([
      'failed failed',
      'forwarded done',
      'waiting cancelled',
      'draft cancelled',
      'asked cancelled',
    ]);
  });

  it('reports ends without a call: lost leases, failed workers, failed dependencies', async () => {
    const bench = await open();
    await bench.setQueue('q', { onLost: 'fail', hooks: [toA(['failed'])] });
    await bench.running({ id: 'lost' });
    await bench.add({ id: 'child', dependsOn: ['lost'], policy: { onDependencyFailed: 'fail' } });
    bench.pass(LEASE_MS);
    await bench.jobs.maintain({ limit: 100 });
    await bench.add({ id: 'late', dependsOn: ['lost'], policy: { onDependencyFailed: 'fail' } });
    await bench.running({ id: 'held' });
    await bench.jobs.endWorker({ id: 'w', kind: 'fail' });
    expect(await reported(bench)).toEqual(['lost failed', 'child failed', 'late failed', 'held failed']);
  });

  it('uses the webhooks that the queue has when the job ends, even if they changed while it ran', async () => {
    const bench = await open();
    const [first, second] = [await bench.running({ id: 'a' }), await bench.running({ id: 'b' })];
    await bench.setQueue('q', { hooks: [toA()] });
    await bench.settle(first, complete);
    await bench.setQueue('q', {});
    await bench.settle(second, complete);
    expect(await reported(bench)).toEqual(['a done']);
    await bench.setQueue('q', { hooks: [toA()] });
    const third = await bench.running({ id: 'c' });
    await bench.records.delete('queue', 'q');
    await bench.settle(third, complete);
    expect(await reported(bench)).toEqual(['a done']);
  });

  it("calls the job's own and its queue's webhooks, each for its events", async () => {
    const bench = await open();
    await bench.setQueue('q', { hooks: [{ url: URL_B, on: ['done'] }, toA(['failed'])] });
    await bench.settle(await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'done'])] } }), complete);
    const orders = (await written(bench)).map(({ data }) => JSON.parse(data) as WebhookRequest);
    expect(orders.map(({ event, url }) => `${event} ${url}`)).toEqual([
      `start ${URL_A}`,
      `done ${URL_A}`,
      `done ${URL_B}`,
    ]);
    expect(new Set((await written(bench)).map(({ id }) => id)).size).toBe(3);
  });

  it('reports a start with every claim, and each progress step once in an attempt', async () => {
    const bench = await open();
    const hooks = [toA(['start', 'progress'], { every: 30 })];
    const job = await bench.running({ id: 'a', policy: { hooks, retries: 1 } });
    const reportProgress = async (percent: number | null) =>
      bench.heartbeat(job, { progress: { percent, text: null } });
    for (const percent of [10, 29.9, 30, null, 45, 20, 31, 95, 100]) await reportProgress(percent);
    await bench.settle(job, retry());
    const [again] = await bench.claim();
    await bench.heartbeat(again ?? job, { progress: { percent: 33, text: 'once more' } });
    expect(await reported(bench)).toEqual(['a start', 'a progress 30', 'a progress 90', 'a start', 'a progress 30']);
  });

  it('reports that a job begins to wait for an event, and no other wait', async () => {
    const bench = await open();
    const suspend = { kind: 'suspend', until: null, event: null, children: null } as const;
    const wait = (id: string) => bench.running({ id, policy: { hooks: [toA(['start', 'waiting'])] } });
    const job = await wait('event');
    bench.pass(5);
    await bench.settle(job, { ...suspend, event: 'approval' });
    await bench.settle(await wait('timed'), { ...suspend, event: 'approval', until: bench.now + 9_000 });
    await bench.settle(await wait('sleeping'), { ...suspend, until: bench.now + 9_000 });
    await bench.settle(await wait('children'), { ...suspend, children: ['event', 'timed'] });
    const early = await wait('early');
    await bench.jobs.keepSteps([
      { id: 'early', token: early.lease.token, kind: 'event', name: 'approval', status: 'waiting' },
    ]);
    await bench.jobs.notify([{ id: 'early', name: 'approval', data: '1' }]);
    await bench.settle(early, { ...suspend, event: 'approval' });
    await bench.jobs.notify([{ id: 'event', name: 'approval', data: '1' }]);
    const ids = ['event', 'timed', 'sleeping', 'children', 'early'];
    const all = await reported(bench);
    expect(all.filter((each) => each.endsWith('waiting'))).toEqual(['event waiting', 'timed waiting']);
    expect(all.filter((each) => each.endsWith('start'))).toEqual(ids.map((id) => `${id} start`));
    const call = (await written(bench)).find(({ id }) => id.startsWith('hook~waiting'));
    const order = { event: 'waiting', job: 'event', queue: 'q', attempt: 1, at: START + 5, url: URL_A };
    expect(call).toMatchObject({ id: `hook~waiting~${START + 5}~event`, data: JSON.stringify(order) });
  });

  it('delivers calls about one job in order: a later one waits until an earlier one is over', async () => {
    const bench = await open();
    const hooks = [toA(['start', 'done']), { url: URL_B, on: ['done' as const] }];
    await bench.setQueue('hooks', { retries: 1 });
    await bench.settle(await bench.running({ id: 'a', policy: { hooks } }), complete);
    await bench.settle(await bench.running({ id: 'b', policy: { hooks } }), complete);
    const claim = () => bench.claim({ queues: ['hooks'] });
    const names = (jobs: readonly Job[]) =>
      jobs.map(({ data }) => JSON.parse(data) as WebhookRequest).map((o) => `${o.job} ${o.event} ${o.url}`);
    const first = await claim();
    expect(names(first)).toEqual([`a start ${URL_A}`, `a done ${URL_B}`, `b start ${URL_A}`, `b done ${URL_B}`]);
    const [startOfA, , startOfB] = first;
    if (startOfA === undefined || startOfB === undefined) throw new Error('both have webhook jobs');
    await bench.settle(startOfA, fail({ delayMs: 500 }));
    expect(await claim()).toEqual([]);
    await bench.settle(startOfB, complete);
    expect(names(await claim())).toEqual([`b done ${URL_A}`]);
    bench.pass(500);
    const [again] = await claim();
    await bench.settle(again ?? startOfA, fail());
    expect(await bench.states(startOfA.id)).toEqual(['failed']);
    expect(names(await claim())).toEqual([`a done ${URL_A}`]);
  });

  it('keeps the sequence intact at any length', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'progress', 'done'])] } });
    await bench.heartbeat(job, { progress: { percent: 50, text: null } });
    await bench.settle(job, complete);
    const events: string[] = [];
    for (let left = 3; left > 0; left -= 1) {
      const [first, ...others] = await bench.claim({ queues: ['hooks'] });
      if (first === undefined) throw new Error('a webhook job is missing');
      expect(others).toEqual([]);
      events.push((JSON.parse(first.data) as WebhookRequest).event);
      await bench.settle(first, complete);
    }
    expect(events).toEqual(['start', 'progress', 'done']);
  });

  it('reports for every queue that has webhooks, and stops when they are removed', async () => {
    const bench = await open();
    await bench.setQueue('p', { hooks: [toA()] });
    await bench.setQueue('q', { hooks: [toA()] });
    await bench.setQueue('r', { hooks: [toA()] });
    await bench.setQueue('q', {});
    const jobs = await Promise.all(['p', 'q', 'r'].map((queue) => bench.running({ id: `of-${queue}`, queue })));
    for (const job of jobs) await bench.settle(job, complete);
    expect(await reported(bench)).toEqual(['of-p done', 'of-r done']);
  });

  it('reports each end of a requeued job, also within one millisecond', async () => {
    const bench = await open();
    await bench.add({ id: 'a', policy: { hooks: [toA(['cancelled'])] } });
    for (let round = 0; round < 3; round += 1) {
      await bench.jobs.cancel([{ id: 'a' }]);
      await bench.jobs.requeue([{ id: 'a' }]);
    }
    const ids = (await written(bench)).map(({ id }) => id);
    expect(ids).toEqual([1, 2, 3].map((n) => `hook~cancelled~${START}~a${n === 1 ? '' : `~${n}`}`));
    expect((await written(bench)).map(({ parents }) => parents?.open ?? 0)).toEqual([0, 1, 1]);
    expect(await bench.jobs.cancel([{ id: 'a' }])).toEqual([{ ok: true, outcome: 'cancelled' }]);
  });

  it('sees within one call the webhook jobs that the call itself added', async () => {
    const bench = await open();
    const hooks = [toA(['start', 'cancelled'])];
    await bench.running({ id: 'a', policy: { hooks, retries: 1 } });
    const [start] = await bench.claim({ queues: ['hooks'] });
    await bench.jobs.endWorker({ id: 'w', kind: 'fail' });
    const [first, second] = await bench.jobs.cancel([{ id: 'a' }, { id: start?.id ?? '' }]);
    expect(first).toEqual({ ok: true, outcome: 'cancelled' });
    expect(second).toMatchObject({ ok: false, refusal: { code: 'has-dependents', dependents: 1 } });
    expect(await bench.job(start?.id ?? '')).toMatchObject({ state: 'waiting', dependents: 1 });
  });

  it.each([
    ['is cancelled with all that wait for it', []],
    ['fails', ['start']],
  ] as const)('loses no call when a call that one of its own jobs waits for %s', async (how, before) => {
    const bench = await open();
    const job = await bench.running({
      id: 'a',
      policy: { hooks: [toA(['start', 'failed', 'cancelled'])], maxResends: 2 },
    });
    await bench.settle(job, { kind: 'resend', delayMs: 0, reason: 'once more' });
    const [again] = await bench.claim();
    const [first] = await bench.claim({ queues: ['hooks'] });
    if (again === undefined || first === undefined) throw new Error('both run');
    await bench.settle(again, { kind: 'complete', next: { queue: 'q', delayMs: 0, dependsOn: [first.id] } });
    await bench.setQueue('q', { onDependencyFailed: 'fail' });
    if (how === 'fails') await bench.settle(first, fail({ final: true }));
    else {
      await bench.settle(first, release);
      await bench.jobs.cancel([{ id: first.id, dependents: 'cancel' }]);
    }
    expect(await bench.states('a')).toEqual([how === 'fails' ? 'failed' : 'cancelled']);
    const heard: string[] = [];
    for (let hooks = await bench.claim({ queues: ['hooks'] }); hooks.length > 0; ) {
      heard.push(hooks.map(({ data }) => (JSON.parse(data) as WebhookRequest).event).join(' '));
      for (const hook of hooks) await bench.settle(hook, complete);
      hooks = await bench.claim({ queues: ['hooks'] });
    }
    expect(heard).toEqual([...before, how === 'fails' ? 'failed' : 'cancelled']);
  });

  it('loses no call behind a call that is lost together with its predecessor', async () => {
    const bench = await open();
    await bench.setQueue('hooks', { onLost: 'fail' });
    const policy = { hooks: [toA()], onDependencyFailed: 'fail' as const };
    await bench.add({ id: 'a', policy }, { id: 'b', policy });
    await bench.jobs.cancel([{ id: 'a' }, { id: 'b' }]);
    const [ofA, ofB] = await bench.claim({ queues: ['hooks'] });
    await bench.jobs.requeue([{ id: 'b' }]);
    await bench.jobs.change([{ id: 'b', dependsOn: { add: [ofA?.id ?? ''] } }]);
    bench.pass(LEASE_MS + 1);
    const [left, ...more] = await bench.claim({ queues: ['hooks'] });
    expect(await bench.states(ofA?.id ?? '', ofB?.id ?? '', 'b')).toEqual(['failed', 'failed', 'failed']);
    expect([JSON.parse(left?.data ?? '{}'), more]).toMatchObject([{ event: 'failed', job: 'b' }, []]);
  });

  /** Three calls about one job, each behind the one before; the answer is in that order. */
  async function threeInLine(bench: Workbench): Promise<readonly string[]> {
    const job = await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'progress', 'done'])] } });
    await bench.heartbeat(job, { progress: { percent: 50, text: null } });
    await bench.settle(job, complete);
    return (await written(bench)).map(({ id }) => id);
  }
  const leaveLine = (bench: Workbench, how: 'cancelled' | 'deleted', ids: readonly string[]) =>
    how === 'deleted'
      ? bench.jobs.delete(ids)
      : bench.jobs.cancel(ids.map((id) => ({ id, dependents: 'leave' as const })));
  /** Claims and completes calls until there are none. Answers what each claim found. */
  async function delivered(bench: Workbench): Promise<readonly string[]> {
    const rounds: string[] = [];
    for (let calls = await bench.claim({ queues: ['hooks'] }); calls.length > 0; ) {
      rounds.push(calls.map(({ data }) => (JSON.parse(data) as WebhookRequest).event).join(' '));
      for (const call of calls) await bench.settle(call, complete);
      calls = await bench.claim({ queues: ['hooks'] });
    }
    return rounds;
  }

  describe.each(['cancelled', 'deleted'] as const)('keeps the order of calls when one of them is %s', (how) => {
    it('in the middle: the next one waits for the previous one', async () => {
      const bench = await open();
      const [start = '', half = '', done = ''] = await threeInLine(bench);
      await leaveLine(bench, how, [half]);
      expect(await bench.job(start)).toMatchObject({ dependents: how === 'cancelled' ? 2 : 1 });
      expect(await bench.job(done)).toMatchObject({ state: 'waiting', parents: { of: 2, open: 1, bad: 0 } });
      expect((await bench.jobs.history(done)).map(({ event }) => event)).toEqual(['added']);
      expect(await delivered(bench)).toEqual(['start', 'done']);
    });

    it('as the last: later calls wait for the remaining ones', async () => {
      const bench = await open();
      const job = await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'progress', 'done'])] } });
      await bench.heartbeat(job, { progress: { percent: 50, text: null } });
      const [, half] = await written(bench);
      await leaveLine(bench, how, [half?.id ?? '']);
      await bench.settle(job, complete);
      expect(await delivered(bench)).toEqual(['start', 'done']);
    });

    it('as the first: the next one is released', async () => {
      const bench = await open();
      const [start = ''] = await threeInLine(bench);
      await leaveLine(bench, how, [start]);
      expect(await delivered(bench)).toEqual(['progress', 'done']);
    });

    it('with another one in the same call', async () => {
      const bench = await open();
      const job = await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'progress', 'done'])] } });
      await bench.heartbeat(job, { progress: { percent: 25, text: null } });
      await bench.heartbeat(job, { progress: { percent: 50, text: null } });
      const [start, ...steps] = (await written(bench)).map(({ id }) => id);
      await leaveLine(bench, how, steps);
      expect(await bench.job(start ?? '')).toMatchObject({ dependents: how === 'cancelled' ? 2 : 0 });
      await bench.settle(job, complete);
      expect(await delivered(bench)).toEqual(['start', 'done']);
    });
  });

  it('keeps the order of calls when some are cancelled with their dependents', async () => {
    const bench = await open();
    const [start = '', half = '', done = ''] = await threeInLine(bench);
    await bench.jobs.cancel([{ id: half, dependents: 'cancel' }]);
    expect(await bench.states(start, half, done)).toEqual(['waiting', 'cancelled', 'cancelled']);
    expect(await bench.jobs.requeue([{ id: done }])).toMatchObject([{ refusal: { code: 'key-taken', holder: start } }]);
    const hook = toA(['silent'], { silentMs: 1 });
    const job = await bench.job('a');
    await bench.jobs.add([webhookJob(job, hook, { event: 'silent', at: bench.now }, onceEventId(job, 'silent', 0))]);
    expect(await delivered(bench)).toEqual(['start', 'silent']);
  });

  it('keeps the order of calls when one is cancelled with the job that it reports', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { hooks: [toA(['start', 'progress', 'cancelled'])] } });
    await bench.heartbeat(job, { progress: { percent: 25, text: null } });
    await bench.heartbeat(job, { progress: { percent: 50, text: null } });
    const [, quarter = ''] = (await written(bench)).map(({ id }) => id);
    await bench.settle(job, { kind: 'complete', next: { queue: 'q', delayMs: 0, dependsOn: [quarter] } });
    await bench.jobs.cancel([{ id: quarter, dependents: 'cancel' }]);
    expect(await bench.states('a')).toEqual(['cancelled']);
    expect(await delivered(bench)).toEqual(['start', 'cancelled']);
  });

  it('leaves other jobs that wait for a cancelled call to their own rule', async () => {
    const bench = await open();
    const [start = '', half = ''] = await threeInLine(bench);
    await bench.add({ id: 'b', dependsOn: [half], policy: { onDependencyFailed: 'fail' } });
    await bench.add({ id: 'c', dependsOn: [half], policy: { onDependencyFailed: 'run' } });
    await bench.jobs.cancel([{ id: half, dependents: 'leave' }]);
    expect(await bench.states(start, 'b')).toEqual(['waiting', 'failed']);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('never reports webhook jobs themselves, and adds them to a queue that is down', async () => {
    const bench = await open();
    await bench.setQueue('hooks', { state: 'down', hooks: [{ url: URL_B, on: [...ENDS, 'start'] }] });
    await bench.settle(await bench.running({ id: 'a', policy: { hooks: [toA()] } }), complete);
    await bench.setQueue('hooks', { hooks: [{ url: URL_B, on: [...ENDS, 'start'] }] });
    const [hook] = await bench.claim({ queues: ['hooks'] });
    if (hook === undefined) throw new Error('it was written');
    await bench.settle(hook, complete);
    expect(await reported(bench)).toEqual(['a done']);
  });

  it('lets a node that detects an event add it to the same sequence, once', async () => {
    const bench = await open();
    const hooks = [toA(['start', 'silent', 'done'], { silentMs: 1_000 })];
    const job = await bench.running({ id: 'a', policy: { hooks } });
    const silent = webhookJob(
      job,
      hooks[0] as Webhook,
      { event: 'silent', at: bench.now },
      onceEventId(job, 'silent', 0),
    );
    expect(await bench.jobs.add([silent, silent])).toMatchObject([{ outcome: 'added' }, { outcome: 'exists' }]);
    await bench.settle(job, complete);
    expect(await reported(bench)).toEqual(['a start', 'a silent', 'a done']);
    expect((await written(bench)).map(({ parents }) => parents?.open ?? 0)).toEqual([0, 1, 1]);
  });

  it('handles ids of the maximum length', async () => {
    const bench = await open();
    const ids = ['x', 'y'].map((end) => 'i'.repeat(127) + end);
    for (const id of ids) {
      const job = await bench.running({ id, policy: { hooks: [toA(['progress', 'done'])] } });
      await bench.heartbeat(job, { progress: { percent: 50, text: null } });
      await bench.settle(job, complete);
    }
    const found = await written(bench);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
    expect(found.every(({ id }) => id.length <= 128)).toBe(true);
    expect(await reported(bench)).toEqual(ids.flatMap((id) => [`${id} progress 50`, `${id} done`]));
  });

  it('reports new webhook jobs to a claim of several queues', async () => {
    const bench = await open();
    await bench.add({ id: 'a', policy: { hooks: [toA(['start'])] } });
    const jobs = await bench.claim({ queues: ['q', 'hooks'] });
    expect(jobs.map(({ queue }) => queue)).toEqual(['q', 'hooks']);
  });
}
