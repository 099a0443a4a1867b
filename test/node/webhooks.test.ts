/** Webhooks of a node: a real receiver with every kind of failure, a killed node, and refused addresses. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { eventually } from '../processes/runner-workbench.ts';
import { ServedNode } from '../relay/serve-bench.ts';
import { testSize } from '../support/test-size.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const OLD = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const TROUBLES = ['ok', 'fails', 'hangs', 'cuts', 'redirects'] as const;
const LONG_MS = 60_000;

/** A node that may call this machine, with two secrets and short retries, and a queue whose script reports progress. */
async function aNode(more: object = {}): Promise<ServedNode> {
  const hooks = { secrets: { default: [NEW, OLD] }, timeout: '700ms' };
  const node = new ServedNode({ allowDestinations: ['127.0.0.1'], hooks, ...more });
  onTestFinished(() => node.close());
  const soon = { backoff: { kind: 'fixed', delay: '50ms', jitter: 0 } };
  writeFileSync(join(node.home, 'queues', 'hooks.json'), JSON.stringify(soon));
  const script = '#!/bin/sh\necho progress 50 half >&3\nsleep "$(sed "s/[^0-9.]//g" data.json)"\n';
  writeFileSync(join(node.home, 'queues', 'work'), script);
  chmodSync(join(node.home, 'queues', 'work'), 0o755);
  await node.start();
  return node;
}

const until = (receiver: WebhookReceiver, isThere: () => boolean) =>
  eventually(
    async () => (isThere() ? receiver.calls : null),
    (calls) => calls !== null,
    LONG_MS,
  );

describe('webhooks', () => {
  it('deliver each event at least once, in order, with one id and a valid signature, whatever the receiver does', async () => {
    const receiver = await WebhookReceiver.open(OLD);
    const node = await aNode();
    for (const trouble of TROUBLES) {
      const hooks = [{ url: `${receiver.url}/${trouble}/x`, on: ['start', 'progress', 'done'], every: 50 }];
      await node.insist('POST', '/api/jobs', { id: `job-${trouble}`, queue: 'work', data: 0.1, hooks });
    }
    const types = ['job.start', 'job.progress', 'job.done'];
    await until(receiver, () =>
      TROUBLES.every((trouble) => receiver.delivered(`/${trouble}/x`).length >= types.length),
    );
    for (const trouble of TROUBLES) {
      const delivered = receiver.delivered(`/${trouble}/x`);
      expect(delivered.map(({ type }) => type)).toEqual(types);
      expect(delivered.map(({ data }) => data.job)).toEqual(types.map(() => `job-${trouble}`));
      expect(delivered[1]?.data).toMatchObject({ percent: 50, queue: 'work', attempt: 1 });
    }
    expect(receiver.calls.filter(({ isGenuine }) => !isGenuine)).toEqual([]);
    const ids = new Map(receiver.calls.map(({ id, body }) => [id, body]));
    expect(ids.size).toBe(TROUBLES.length * types.length);
    expect(receiver.calls.every(({ id, body }) => ids.get(id) === body)).toBe(true);
    expect(receiver.calls.length).toBe(ids.size + 2 * (TROUBLES.length - 1) * types.length);
    const { json } = await node.insist('GET', '/api/jobs?queue=hooks&name=job-ok');
    expect(JSON.stringify(json)).not.toContain('whsec_');
  });

  it('survive a kill -9 between the end of a job and the call', async () => {
    const receiver = await WebhookReceiver.open(NEW);
    const node = await aNode();
    await node.insist('PATCH', '/api/queues/work', { hooks: [`${receiver.url}/ok/killed`] });
    const rounds = testSize({ small: 2, full: 20 });
    const ids: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const fresh = Array.from({ length: 10 }, (_, place) => `r${round}-${place}`);
      await node.insist(
        'POST',
        '/api/jobs',
        fresh.map((id) => ({ id, queue: 'work', data: 0, delay: '1h' })),
      );
      const ended = fresh.map((id) => node.ask('POST', `/api/jobs/${id}/cancel`).catch(() => null));
      // The first answer is the end of one of them; the node is killed early in its deliveries.
      await Promise.race(ended);
      await node.kill9();
      const answers = await Promise.all(ended);
      ids.push(...fresh.filter((_, place) => answers[place]?.status === 200));
      await node.start();
    }
    expect(ids.length).toBeGreaterThan(0);
    const delivered = () => new Set(receiver.delivered('/ok/killed').map(({ data }) => data.job));
    await until(receiver, () => ids.every((id) => delivered().has(id)));
    expect(receiver.calls.every(({ isGenuine }) => isGenuine)).toBe(true);
    const bodies = new Map(receiver.calls.map(({ id, body }) => [id, body]));
    expect(receiver.calls.every(({ id, body }) => bodies.get(id) === body)).toBe(true);
    expect(
      new Set([...bodies.values()].map((body) => (JSON.parse(body) as { data: { job: string } }).data.job)).size,
    ).toBe(bodies.size);
  });

  it('report a silent job once, and one that runs longer than usual', async () => {
    const receiver = await WebhookReceiver.open(NEW);
    const node = await aNode();
    const quick = Array.from({ length: 20 }, (_, place) => ({ id: `quick-${place}`, queue: 'work', data: 0 }));
    await node.insist('PATCH', '/api/queues/work', { concurrency: 10 });
    await node.insist('POST', '/api/jobs', quick);
    const states = async () => Promise.all(quick.map(async ({ id }) => (await node.find(id))?.state));
    await eventually(states, (all) => all.every((state) => state === 'done'), LONG_MS);
    const hooks = [{ url: `${receiver.url}/ok/seen`, on: ['silent', 'slow'], silent: '1s' }];
    await node.insist('POST', '/api/jobs', { id: 'long', queue: 'work', data: 300, hooks });
    await until(receiver, () => receiver.delivered('/ok/seen').length >= 2);
    await node.kill9();
    await node.start();
    const [hook] = hooks;
    const again = [{ ...hook, url: `${receiver.url}/ok/after` }];
    await node.insist('POST', '/api/jobs', { id: 'later', queue: 'work', data: 300, hooks: again });
    await until(receiver, () => receiver.delivered('/ok/after').length >= 2);
    for (const path of ['/ok/seen', '/ok/after'])
      expect(
        receiver
          .delivered(path)
          .map(({ type }) => type)
          .sort(),
      ).toEqual(['job.silent', 'job.slow']);
    for (const id of ['long', 'later']) await node.insist('POST', `/api/jobs/${id}/cancel`);
  });

  it('report that a job waits for an event, name the event while it waits, and report the end', async () => {
    const receiver = await WebhookReceiver.open(NEW);
    const node = await aNode();
    await using longhaul = await connect(`http://127.0.0.1:${node.port}`);
    const queue = longhaul.queue<null, unknown>('staged');
    await using _work = queue.work((job) => job.waitForEvent('approval', { timeout: '7d' }));
    const on = ['waiting', 'done'] as const;
    const job = await queue.add(null, { hooks: [{ url: `${receiver.url}/ok/waits`, on }] });
    await until(receiver, () => receiver.delivered('/ok/waits').length === 1);
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(receiver.delivered('/ok/waits')).toMatchObject([
      { type: 'job.waiting', data: { job: job.id, attempt: 1, waitsFor: { event: 'approval', until: at } } },
    ]);
    await longhaul.notify(job.id, 'approval', 'yes');
    expect(await job.finished()).toBe('yes');
    await until(receiver, () => receiver.delivered('/ok/waits').length === 2);
    expect(receiver.delivered('/ok/waits')[1]).toMatchObject({ type: 'job.done', data: { job: job.id } });
    // A call that is made after the event names it no more.
    await node.insist('PATCH', '/api/queues/hooks', { state: 'paused' });
    const late = await queue.add(null, { hooks: [{ url: `${receiver.url}/ok/late`, on: ['waiting'] }] });
    await eventually(
      async () => (await longhaul.find(late.id))?.label,
      (label) => label === 'suspended',
      LONG_MS,
    );
    await longhaul.notify(late.id, 'approval');
    await late.finished();
    await node.insist('PATCH', '/api/queues/hooks', { state: 'up' });
    await until(receiver, () => receiver.delivered('/ok/late').length === 1);
    expect(receiver.delivered('/ok/late')[0]?.data).not.toHaveProperty('waitsFor');
    expect(receiver.calls.every(({ isGenuine }) => isGenuine)).toBe(true);
  });

  it('report a bad address where it is set if possible, otherwise in their own job', async () => {
    const node = await aNode({ allowDestinations: [] });
    const refused = async (hooks: unknown) => {
      const { status, json } = await node.ask('POST', '/api/jobs', { queue: 'work', data: 0, hooks });
      return `${status} ${JSON.stringify(json)}`;
    };
    expect(await refused(['no address'])).toMatch(/^400 .*hooks\[0\].*must be an address such as https:/);
    expect(await refused(['ftp://example.com/'])).toMatch(/^400 .*must begin with http/);
    expect(await refused(['https://me:pass@example.com/'])).toMatch(/^400 .*no user and no password/);
    expect(await refused([{ url: 'https://example.com/', on: ['finished'] }])).toMatch(/^400 .*must be one of start/);
    expect(await refused([{ url: 'https://example.com/', secret: NEW }])).toMatch(
      /^400 .*must be the name of a secret/,
    );
    expect(await refused(['http://127.0.0.1:9/'])).toMatch(/^400 .*private address.*allowDestinations/);
    expect(await refused(['http://2852039166/'])).toMatch(/^400 .*169\.254\.169\.254 is a private address/);
    const policy = { hooks: [{ url: 'http://127.0.0.1:9/', on: ['done'] }] };
    const byPort = await node.ask('POST', '/api/store/add', {
      argument: [{ id: 'p', queue: 'work', data: '0', policy }],
    });
    expect(JSON.stringify(byPort)).toMatch(/400.*private address/);
    const queue = await node.ask('PATCH', '/api/queues/work', { hooks: ['http://[::1]/'] });
    expect(JSON.stringify(queue)).toMatch(/400.*private address/);
    const taken = await node.ask('POST', '/api/jobs', { id: 'hook~done~1~x', queue: 'work', data: 0 });
    expect(JSON.stringify(taken)).toMatch(/400.*reserved for webhook jobs/);

    await node.insist('POST', '/api/jobs', { id: 'forged', queue: 'hooks', data: { url: 'https://example.com/' } });
    const hooks = [
      { url: 'http://localhost:9/', on: ['cancelled'] },
      { url: 'https://example.com/', on: ['cancelled'], secret: 'unknown' },
    ];
    await node.insist('POST', '/api/jobs', { id: 'a', queue: 'work', data: 0, delay: '1h', hooks });
    await node.insist('POST', '/api/jobs/a/cancel');
    const page = async () => {
      const { json } = await node.insist('GET', '/api/jobs?queue=hooks');
      return (json as { jobs: { failure: { group: string; message: string } | null }[] }).jobs.map(
        ({ failure }) => failure,
      );
    };
    const failures = await eventually(page, (all) => all.length === 3 && all.every((each) => each !== null), LONG_MS);
    expect(failures.map((failure) => failure?.group ?? '').sort()).toEqual([
      'hook: no-hook',
      'hook: no-secret',
      'hook: not-allowed',
    ]);
    expect(await node.find('forged')).toMatchObject({ state: 'failed' });
  });
});
