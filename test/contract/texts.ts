/** Texts pass through a store unchanged, byte for byte, and every allowed id and name works. */
import { expect, it } from 'vitest';
import type { RunningJob } from '../../src/core/job/job.ts';
import type { Open } from './contract.ts';
import { outcomeOf } from './workbench.ts';

const KB = 1_024;
/** Each of them would change if a store parsed it and wrote it again. */
const JSON_TEXTS = [
  'null',
  '""',
  ' { "a" : 1.0 ,\n\t"b":[ ] } ',
  '{"b":1,"a":2,"b":3}',
  '[1e400,-0,12345678901234567890,0.1000000000000000055]',
  '"\\u00e9\\/\\ud83d\\ude00\\u0000"',
  '"é 😀 \u2028\u2029 \ufeff \u007f"',
  '"\\ud800"',
  '"\'; DROP TABLE jobs; -- %s %d {} $1 ?1 :a @b"',
  `"${'x'.repeat(256 * KB - 2)}"`,
  `"${'é'.repeat(128 * KB - 1)}"`,
];

const IDS = [
  'a',
  'A',
  '7',
  '007',
  '1e3',
  '-',
  '~',
  '_',
  'a:b',
  'a:b:c',
  '...',
  '__proto__',
  'constructor',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:~-',
  'x'.repeat(128),
  'X'.repeat(128),
];
const QUEUES = ['q', 'Q', '0', '00', '_', 'a.b-c_d', '__proto__', 'toString', 'n'.repeat(128)];
const TEXTS = [
  'plain',
  'two words',
  'a,b',
  'a"b',
  "a'b",
  'a\\b',
  'ümlaut 😀',
  '%',
  '_',
  '*',
  'a\nb',
  '\u001d0\u001e\u001f',
  '__proto__',
  '0',
];

export function textContract(open: Open): void {
  it('keeps data byte for byte', async () => {
    const bench = await open();
    await bench.add(...JSON_TEXTS.map((data, index) => ({ id: String(index), data })));
    const found = await bench.jobs.find(JSON_TEXTS.map((_, index) => String(index)));
    expect(found.map((job) => job?.data)).toEqual(JSON_TEXTS);
    const claimed = await bench.claim({ limit: 100 });
    expect(claimed.map((job) => job.data)).toEqual(JSON_TEXTS);
  });

  it('keeps results, checkpoints and changed data byte for byte', async () => {
    const bench = await open();
    for (const [index, text] of JSON_TEXTS.entries()) {
      const job = await bench.running({ id: String(index) });
      await bench.heartbeat(job, { checkpoint: text, data: text });
      expect(await bench.job(job.id)).toMatchObject({ checkpoint: text, data: text });
      await bench.settle(job, { kind: 'complete', result: text, data: text });
      expect(await bench.job(job.id)).toMatchObject({ result: text, data: text, state: 'done' });
    }
  });

  it('keeps every allowed id apart', async () => {
    const bench = await open();
    const results = await bench.add(...IDS.map((id, index) => ({ id, data: String(index) })));
    expect(results.map((result) => result.ok && result.outcome)).toEqual(IDS.map(() => 'added'));
    expect((await bench.jobs.find(IDS)).map((job) => job?.data)).toEqual(IDS.map((_, index) => String(index)));
    const claimed = await bench.claim({ limit: 100 });
    expect(claimed.map(({ id }) => id)).toEqual(IDS);
    const settled = await bench.jobs.settle(
      claimed.map(({ id, lease }: RunningJob) => ({ id, token: lease.token, kind: 'complete' })),
    );
    expect(settled.map(outcomeOf)).toEqual(IDS.map(() => 'ok'));
    expect((await bench.jobs.delete(IDS)).map(outcomeOf)).toEqual(IDS.map(() => 'ok'));
    expect(await bench.jobs.find(IDS)).toEqual(IDS.map(() => null));
  });

  it('keeps every allowed queue name apart', async () => {
    const bench = await open();
    await bench.add(...QUEUES.map((queue, index) => ({ id: String(index), queue })));
    for (const [index, queue] of QUEUES.entries()) {
      expect(await bench.claimIds({ queues: [queue] })).toEqual([String(index)]);
      expect(await bench.jobs.count([queue])).toMatchObject([{ queue, running: 1, waiting: 0 }]);
    }
    const counts = await bench.jobs.count();
    expect(counts.map(({ queue }) => queue).sort()).toEqual([...QUEUES].sort());
  });

  it('keeps names, tags, workers, reasons and addresses unchanged', async () => {
    const bench = await open();
    for (const [index, text] of TEXTS.entries()) {
      const id = String(index);
      await bench.add({ id, name: text, tags: [text, `${text}!`], unique: aKey(text) });
      const job = await bench.claimOne({ worker: text });
      expect(job).toMatchObject({
        id,
        name: text,
        tags: [text, `${text}!`],
        unique: aKey(text),
        lease: { worker: text },
      });
      const { jobs } = await bench.jobs.list({ tag: text, name: text, worker: text, order: 'newest', limit: 10 });
      expect(jobs.map((each) => each.id)).toEqual([id]);
      await bench.heartbeat(job, { progress: { percent: null, text: text } });
      expect(await bench.job(id)).toMatchObject({ progress: { percent: null, text: text } });
      await bench.settle(job, { kind: 'forward', address: text });
      expect(await bench.job(id)).toMatchObject({ forwardedTo: text });
      expect((await bench.jobs.history(id)).at(-1)).toMatchObject({ by: text, note: text });
    }
  });

  it('keeps a failure unchanged, and groups by its exact text', async () => {
    const bench = await open();
    for (const [index, text] of TEXTS.entries()) {
      const job = await bench.running({ id: String(index) });
      const failure = { group: text, message: text, detail: index % 2 === 0 ? text : null };
      await bench.settle(job, { kind: 'fail', failure, delayMs: 0 });
      expect((await bench.job(job.id)).failure).toEqual(failure);
    }
    const groups = await bench.jobs.insight({ kind: 'failures', queue: 'q' });
    expect(Object.fromEntries(groups.map(({ group, sampleId }) => [group, sampleId]))).toEqual(
      Object.fromEntries(TEXTS.map((text, index) => [text, String(index)])),
    );
  });

  it('keeps queue, key and id apart however they are combined', async () => {
    const bench = await open();
    const results = await bench.add(
      { id: 'a', queue: 'x', unique: aKey('y:z') },
      { id: 'b', queue: 'x.y', unique: aKey('z') },
      { id: 'c', queue: 'x', unique: { ...aKey('q:x:y:z'), scope: 'store' } },
      { id: 'd', queue: 'x', unique: aKey('y:z') },
    );
    expect(results.map((result) => result.ok && result.outcome)).toEqual(['added', 'added', 'added', 'duplicate']);
  });
}

function aKey(key: string) {
  return { key, scope: 'queue', until: 'ended', periodMs: 0 } as const;
}
