/** An RQ host as the destination: called in its own protocol, detected by a request. With a real RQ: test/compat/rq-relay.test.ts. */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RqMessage, RqRecordedHost } from '../support/rq-recorded-host.ts';
import { openRqRecordedHost } from '../support/rq-recorded-host.ts';
import { testSize } from '../support/test-size.ts';
import type { SentFile, TrialNode } from './relay-bench.ts';
import { aFile, ended, hasFailed, relay, sha256, startNode, until } from './relay-bench.ts';

let a: TrialNode;

beforeAll(async () => {
  a = await startNode();
});

async function aHost(): Promise<RqRecordedHost> {
  const host = await openRqRecordedHost(['test']);
  onTestFinished(() => host.close());
  return host;
}

const only = ({ messages }: RqRecordedHost): RqMessage => {
  const committed = [...messages.values()].filter(({ state }) => state !== 'prep');
  expect(committed).toHaveLength(1);
  return committed[0] as RqMessage;
};
const hashes = ({ attachments }: RqMessage) => [...attachments].map(([name, bytes]) => [name, sha256(bytes)]);
const sent = (files: readonly SentFile[]) => files.map(({ name, bytes }) => [name, sha256(bytes)]);

it('a message is sent with prep, attach and commit, and ends here as relayed', async () => {
  const host = await aHost();
  const files = [
    aFile('a.bin', 3_000),
    aFile('empty', 0),
    aFile('film', testSize({ small: 2_000_000, full: 100_000_000 })),
  ];
  const data = { dest: 'x', src: 'web', param1: 'one', param2: 'two', max_count: 3 };
  await relay(a, { id: 'rq-1', to: `${host.base}q/test`, data, files });
  const job = await until(a, 'rq-1', ended, 60_000);
  const message = only(host);
  expect(job).toMatchObject({ state: 'done', forwardedTo: `${host.base}q/test/${message.id}` });
  expect(message.fields).toEqual({
    dest: `${host.base}q/test`,
    src: 'web',
    count: 1,
    max_count: 3,
    param1: 'one',
    param2: 'two',
    orig_msg_id: expect.stringMatching(/\/q\/relay\/rq-1$/),
  });
  expect(hashes(message)).toEqual(sent(files));
  expect(host.asked.slice(0, 3)).toEqual(['GET /api/relay', 'GET /q.json', 'POST /q/test/new_message']);
});

it('data that are not an RQ message become its first parameter, and the kind of the peer is detected once', async () => {
  const host = await aHost();
  for (const id of ['plain-1', 'plain-2']) await relay(a, { id, to: `${host.base}q/test`, data: { film: [1, id] } });
  for (const id of ['plain-1', 'plain-2']) await until(a, id, ended);
  await relay(a, { id: 'plain-3', to: `${host.base}q/test`, data: 'text' });
  await until(a, 'plain-3', ended);
  const parameters = [...host.messages.values()].map(({ fields }) => String(fields['param1']));
  expect(parameters.sort()).toEqual(['"text"', '{"film":[1,"plain-1"]}', '{"film":[1,"plain-2"]}']);
  expect(host.asked.filter((each) => each === 'GET /q.json').length).toBeLessThanOrEqual(2);
});

it.each([
  ['prep', 'POST /q/test/new_message'],
  ['attach', '/attach/new'],
  ['commit', 'POST /q/test/20260101'],
])('a lost answer to %s creates no second message that runs', async (_, which) => {
  const host = await aHost();
  let isLost = false;
  host.onAnswer = (asked) => {
    const isThis = !isLost && asked.includes(which) && (which !== 'POST /q/test/20260101' || !asked.includes('attach'));
    if (isThis) isLost = true;
    return isThis ? 'lose' : undefined;
  };
  const files = [aFile('a', 1_000)];
  const id = `lost-${which.length}`;
  await relay(a, { id, to: `${host.base}q/test`, files });
  const job = await until(a, id, ended);
  expect(job).toMatchObject({ state: 'done', failures: 1 });
  expect(hashes(only(host))).toEqual(sent(files));
});

it('a wrong MD5 in the answer, or a queue that is down or missing, keeps the job with the reason', async () => {
  const host = await aHost();
  host.md5 = (real) => real.replace(/./, 'x');
  await relay(a, { id: 'md5', to: `${host.base}q/test`, files: [aFile('a', 100)] });
  expect(await until(a, 'md5', hasFailed)).toMatchObject({ state: 'waiting', failure: { group: 'relay: wrong-hash' } });
  host.md5 = (real) => real;
  expect(await until(a, 'md5', ended)).toMatchObject({ state: 'done' });
  host.queues.set('test', 'DOWN');
  await relay(a, { id: 'down', to: `${host.base}q/test` });
  expect(await until(a, 'down', hasFailed)).toMatchObject({ failure: { group: 'relay: queue-closed' } });
  await relay(a, { id: 'none', to: `${host.base}q/nowhere` });
  expect(await until(a, 'none', hasFailed)).toMatchObject({ failure: { group: 'relay: no-such-queue' } });
});

it('a message that is committed there without its file, or deleted there, is sent again as a whole', async () => {
  const host = await aHost();
  const files = [aFile('a', 1_000)];
  for (const what of ['committed', 'deleted']) {
    host.messages.clear();
    let isOnce = true;
    host.onAnswer = (asked) => {
      const [message] = [...host.messages.values()];
      if (!isOnce || message === undefined || !asked.endsWith('/attach/new')) return undefined;
      isOnce = false;
      message.attachments.clear();
      if (what === 'committed') message.state = 'que';
      else host.messages.clear();
      return 'lose';
    };
    await relay(a, { id: `incomplete-${what}`, to: `${host.base}q/test`, files });
    const job = await until(a, `incomplete-${what}`, ended);
    const last = [...host.messages.values()].at(-1) as RqMessage;
    expect(job).toMatchObject({ state: 'done', failures: 1, forwardedTo: `${host.base}q/test/${last.id}` });
    expect([last.state, hashes(last)]).toEqual(['que', sent(files)]);
  }
});

it('a file whose name RQ refuses fails the job before anything is sent', async () => {
  const host = await aHost();
  await relay(a, { id: 'named', to: `${host.base}q/test`, files: [aFile('50%', 10)] });
  expect(await until(a, 'named', ended)).toMatchObject({
    state: 'failed',
    failure: { group: 'relay: bad-file-name', message: expect.stringContaining('50%') },
  });
  expect(host.messages.size).toBe(0);
});

it('a message keeps its count, which ends a loop through RQ hosts, and its orig_msg_id', async () => {
  const host = await aHost();
  const data = (count: number) => ({
    dest: `${host.base}q/test`,
    count,
    max_count: 20,
    orig_msg_id: 'http://far/q/x/1',
  });
  await a.store.jobs.add([{ id: 'counted', queue: 'relay', data: JSON.stringify(data(4)) }]);
  await until(a, 'counted', ended);
  expect(only(host).fields).toMatchObject({ count: 5, max_count: 20, orig_msg_id: 'http://far/q/x/1' });
  await a.store.jobs.add([{ id: 'endless', queue: 'relay', data: JSON.stringify(data(16)) }]);
  expect(await until(a, 'endless', ended)).toMatchObject({ state: 'failed', failure: { group: 'relay: loop' } });
});

it('its state and its log there can be read', async () => {
  const host = await aHost();
  await relay(a, { id: 'seen', to: `${host.base}q/test`, data: { param1: 'x' } });
  await until(a, 'seen', ended);
  expect((await a.ask('GET', '/api/jobs/seen/remote')).json).toMatchObject({ known: true, job: { state: 'que' } });
  expect((await a.ask('GET', '/api/jobs/seen/remote/log')).json).toMatchObject({
    text: expect.stringContaining('printed'),
  });
});
