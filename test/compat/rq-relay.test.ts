/**
 * Relay with a real RQ in both directions, while either side is killed with -9. Needs a checkout of brightroll/rq; see
 * real-rq.ts. `LONGHAUL_PROOF=full` runs it with 200 messages and ten kills of each side.
 *
 * RQ is killed in two ways by turns: all of it at once, and only the process of the queue, whose scripts then go on.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { ServedNode } from '../relay/serve-bench.ts';
import { testSize } from '../support/test-size.ts';
import { freePort, hasRq, md5, print, RealRq, WHY_SKIPPED } from './real-rq.ts';

if (!hasRq) print(`Relay with RQ: ${WHY_SKIPPED}`);

const MESSAGES = testSize({ small: 20, full: 200 });
const KILLS = testSize({ small: 2, full: 10 });
const FILE_BYTES = 3 * 1024 * 1024;
const LIMIT_MS = 1_800_000;
const PERFECT = { delivered: MESSAGES, twice: 0, lost: 0, files: MESSAGES / 2 };

type Md5s = Readonly<Record<string, string>>;

/** What arrived, with the MD5 of its files. */
interface Arrived {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly md5: Md5s;
}

/** Every second message has a file. */
function filesOf(index: number): ReadonlyMap<string, Buffer> {
  return new Map(index % 2 === 0 ? [] : [[`film-${index}.bin`, randomBytes(FILE_BYTES)]]);
}

const hashesOf = (files: ReadonlyMap<string, Buffer>): Md5s =>
  Object.fromEntries([...files].map(([name, bytes]) => [name, md5(bytes)]));

function figures(arrived: readonly Arrived[], sent: ReadonlyMap<string, Md5s>) {
  const nameOf = ({ fields }: Arrived): string => String(fields['param1']);
  const names = arrived.map(nameOf);
  const isIntact = ([name, files]: [string, Md5s]): boolean => {
    const found = arrived.find((each) => nameOf(each) === name);
    return Object.keys(files).length > 0 && JSON.stringify(found?.md5) === JSON.stringify(files);
  };
  return {
    delivered: new Set(names).size,
    twice: names.length - new Set(names).size,
    lost: [...sent.keys()].filter((name) => !names.includes(name)).length,
    files: [...sent].filter(isIntact).length,
  };
}

describe.skipIf(!hasRq)('relay with a real RQ', { timeout: LIMIT_MS }, () => {
  let rq: RealRq;
  let node: ServedNode;

  beforeAll(async () => {
    rq = new RealRq();
    await rq.install([{ name: 'inbox', script: 'echo "done read" >&3' }], 3);
    const port = await freePort();
    node = new ServedNode({ url: `http://127.0.0.1:${port}/`, allowDestinations: ['127.0.0.0/8'] });
    node.port = port;
    await Promise.all([rq.start(), node.start()]);
    await node.knows('mail');
  });

  /** Kills one side and the other by turns, each when some more messages have arrived. */
  async function killBoth(queue: string, count: () => number | Promise<number>): Promise<void> {
    const reached = (share: number) => eventually(count, (seen) => seen >= Math.floor(MESSAGES * share), LIMIT_MS);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await reached((kill + 0.25) / KILLS);
      if (kill % 2 === 0) rq.killQueue(queue);
      else await rq.kill9().then(() => rq.start());
      await reached((kill + 0.75) / KILLS);
      await node.kill9();
      await node.start();
    }
  }

  function report(direction: string, arrived: readonly Arrived[], sent: ReadonlyMap<string, Md5s>): void {
    const seen = figures(arrived, sent);
    print(`${direction}, ${KILLS} kills of each side: ${JSON.stringify(seen)}`);
    expect(seen).toEqual(PERFECT);
  }

  it('from RQ to Longhaul: each message arrives once, with its file', async () => {
    const sent = new Map<string, Md5s>();
    await rq.post('q/relay/adminoper', { pause: 'pause', back: '/' });
    for (let index = 0; index < MESSAGES; index += 1) {
      const files = filesOf(index);
      const fields = { dest: `http://127.0.0.1:${node.port}/q/mail`, src: 'rq', param1: `to-${index}`, max_count: 9 };
      await rq.send('relay', fields, files);
      sent.set(`to-${index}`, hashesOf(files));
    }
    await rq.post('q/relay/adminoper', { resume: 'resume', back: '/' });
    const committed = async () => (await node.jobsIn('mail')).filter(({ state }) => state === 'waiting');
    await killBoth('relay', async () => (await committed()).length);
    const ended = () => rq.states('relay').filter((state) => state === 'relayed' || state === 'err').length;
    await eventually(ended, (count) => count >= MESSAGES, LIMIT_MS);
    const arrived = await Promise.all((await committed()).map(({ id, data }) => arrivedAs(id, data)));
    report('RQ to Longhaul', arrived, sent);
    expect(new Set(rq.states('relay'))).toEqual(new Set(['relayed']));
    for (const { fields } of arrived)
      expect(fields).toMatchObject({ src: 'rq', max_count: 9, orig_msg_id: expect.stringContaining('/q/relay/') });
  });

  async function arrivedAs(id: string, data: unknown): Promise<Arrived> {
    const { json } = await node.insist('GET', `/api/jobs/${id}/attachments`);
    const { attachments } = json as { attachments: readonly { name: string; sha256: string }[] };
    const blob = (sha256: string): Buffer => readFileSync(join(node.home, 'blobs', sha256.slice(0, 2), sha256));
    const files = attachments.map(({ name, sha256 }) => [name, md5(blob(sha256))]);
    return { fields: data as Arrived['fields'], md5: Object.fromEntries(files) };
  }

  it('from Longhaul to RQ: each message arrives once, with its file', async () => {
    const sent = new Map<string, Md5s>();
    await node.insist('PATCH', '/api/queues/relay', { state: 'paused' });
    for (let index = 0; index < MESSAGES; index += 1) {
      const id = `from-${index}`;
      const files = filesOf(index);
      const data = { src: 'longhaul', param1: id, max_count: 9 };
      await node.insist('POST', '/api/jobs', { id, queue: `${rq.base}q/inbox`, data, draft: true });
      for (const [name, bytes] of files) await node.insist('PUT', `/api/jobs/${id}/attachments/${name}`, bytes);
      await node.insist('POST', `/api/jobs/${id}/commit`);
      sent.set(id, hashesOf(files));
    }
    await node.insist('PATCH', '/api/queues/relay', { state: 'up' });
    const inStates = (isOne: (state: string) => boolean) => rq.states('inbox').filter(isOne).length;
    await killBoth('inbox', () => inStates((state) => state !== 'prep'));
    const left = async () => (await node.jobsIn('relay')).filter(({ state }) => state !== 'done' && state !== 'failed');
    await eventually(left, (jobs) => jobs.length === 0, LIMIT_MS);
    await eventually(
      () => inStates((state) => state === 'que' || state === 'run'),
      (count) => count === 0,
      LIMIT_MS,
    );
    const arrived = rq.messages('inbox').filter(({ state }) => state !== 'prep');
    report('Longhaul to RQ', arrived, sent);
    expect((await node.jobsIn('relay')).filter(({ state }) => state !== 'done')).toEqual([]);
    for (const { fields } of arrived)
      expect(fields).toMatchObject({ src: 'longhaul', count: 1, max_count: 9, orig_msg_id: expect.any(String) });
  });
});
