/** The life of a job and its errors, with curl only. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { bytesOf } from '../processes/blobs-workbench.ts';
import { FilesBench } from './files-bench.ts';

const bench = new FilesBench();
const go = (): void => writeFileSync(join(bench.home, 'go'), '');

beforeAll(async () => {
  bench.queue(
    'sum',
    `echo "begun with $(cat)"; echo 'progress 50 half way' >&3
while [ ! -e "${bench.home}/go" ]; do sleep 0.05; done
sha256sum < attach/input.bin | cut -d' ' -f1 > out/sum.txt
echo "result {\\"bytes\\": $(wc -c < attach/input.bin)}" >&3; echo over`,
  );
  bench.queue('sleeper', 'echo asleep; sleep 1000');
  await bench.start();
});

/** The status and the answer, as curl prints them. */
async function curl(
  path: string,
  ...words: string[]
): Promise<{ status: number; json: Record<string, unknown>; text: string }> {
  const output = await bench.run('curl', ['-sS', '-w', '\n%{http_code}', ...words, `${bench.url}${path}`]);
  const at = output.lastIndexOf('\n');
  const text = output.slice(0, at);
  return {
    status: Number(output.slice(at + 1)),
    text,
    json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

const post = (path: string, value: unknown = {}) =>
  curl(path, '-H', 'content-type: application/json', '-d', JSON.stringify(value));
const stateIs = (path: string, state: string) =>
  vi.waitFor(async () => expect((await curl(path)).json['state']).toBe(state), { timeout: 30_000, interval: 50 });

it('a job is drafted, given a file, committed, followed, read, requeued and deleted', async () => {
  const input = bytesOf(3_000_000);
  const sum = createHash('sha256').update(input).digest('hex');
  writeFileSync(join(bench.home, 'input.bin'), input);
  const job = '/api/jobs/curl-1';

  const added = await post('/api/jobs', { id: 'curl-1', queue: 'sum', data: { from: 'curl' }, draft: true });
  expect(added.status).toBe(201);
  expect((await curl(job)).json).toMatchObject({ state: 'draft', label: 'draft', data: { from: 'curl' } });

  const type = 'content-type: application/octet-stream';
  const sent = await curl(
    `${job}/attachments/input.bin`,
    '-H',
    type,
    '-H',
    `x-content-sha256: ${sum}`,
    '-T',
    'input.bin',
  );
  expect(sent).toMatchObject({ status: 201, json: { sha256: sum, size: 3_000_000 } });
  expect((await post(`${job}/commit`)).status).toBe(200);

  const following = bench.run('curl', ['-sSN', `${bench.url}${job}/attempts/latest/log/events`], 60_000);
  await stateIs(job, 'running');
  await vi.waitFor(async () => expect((await curl(job)).json['progress']).toMatchObject({ percent: 50 }), {
    timeout: 20_000,
  });
  const part = await curl(`${job}/attempts/latest/log`, '-r', '0-4');
  expect(part).toMatchObject({ status: 206, text: 'begun' });
  go();
  const told = await following;
  expect(told).toContain('begun with {\\"from\\":\\"curl\\"}');
  expect(told).toMatch(/event: end\ndata: \{"attempt":1,"state":"done","exit":0,"signal":null\}\n\n$/);

  expect((await curl(job)).json).toMatchObject({ state: 'done', result: { bytes: 3_000_000 } });
  expect((await curl(`${job}/attachments/sum.txt`)).text).toBe(`${sum}\n`);
  await bench.run('curl', ['-sSf', '-o', 'back.bin', `${bench.url}${job}/attachments/input.bin`]);
  expect(readFileSync(join(bench.home, 'back.bin')).equals(input)).toBe(true);
  expect((await curl(`${job}/attempts`)).json).toMatchObject({ attempts: [{ attempt: 1, end: { exit: 0 } }] });
  const history = (await curl(`${job}/history`)).json['history'] as { event: string }[];
  expect(history.map(({ event }) => event)).toEqual(['added', 'committed', 'claimed', 'completed']);

  expect((await post(`${job}/requeue`)).status).toBe(200);
  await vi.waitFor(async () => expect((await curl(job)).json).toMatchObject({ state: 'done', attempt: 2 }), {
    timeout: 30_000,
  });
  expect((await curl(job, '-X', 'DELETE')).status).toBe(204);
  expect(await curl(job)).toMatchObject({ status: 404, json: { code: 'not-found' } });
});

it('a running job is cancelled, and its stream reports the end', async () => {
  await post('/api/jobs', { id: 'curl-2', queue: 'sleeper' });
  const following = bench.run('curl', ['-sSN', `${bench.url}/api/jobs/curl-2/attempts/latest/log/events`], 60_000);
  await stateIs('/api/jobs/curl-2', 'running');
  expect((await post('/api/jobs/curl-2/cancel')).json).toMatchObject({ outcome: 'asked' });
  expect(await following).toMatch(/event: end\ndata: \{"attempt":1,"state":"cancelled"/);
  expect((await curl('/api/jobs/curl-2')).json).toMatchObject({ state: 'cancelled' });
});

it('curl resumes an interrupted download', async () => {
  const input = bytesOf(500_000, 2);
  writeFileSync(join(bench.home, 'again.bin'), input);
  await post('/api/jobs', { id: 'curl-3', queue: 'nobody', draft: true });
  const path = '/api/jobs/curl-3/attachments/again.bin';
  await curl(path, '-H', 'content-type: application/octet-stream', '-T', 'again.bin');
  writeFileSync(join(bench.home, 'partial.bin'), input.subarray(0, 123_456));
  await bench.run('curl', ['-sSf', '-C', '-', '-o', 'partial.bin', `${bench.url}${path}`]);
  expect(readFileSync(join(bench.home, 'partial.bin')).equals(input)).toBe(true);
});

it('an upload is resumed by hand', async () => {
  const input = bytesOf(100_000, 3);
  writeFileSync(join(bench.home, 'rest.bin'), input.subarray(40_000));
  await post('/api/jobs', { id: 'curl-4', queue: 'nobody', draft: true });
  const path = '/api/jobs/curl-4/attachments/x';
  writeFileSync(join(bench.home, 'first.bin'), input.subarray(0, 40_000));
  const type = ['-H', 'content-type: application/octet-stream', '-H', 'upload-length: 100000'];
  expect(await curl(path, ...type, '-H', 'upload-offset: 0', '-T', 'first.bin')).toMatchObject({
    status: 202,
    json: { offset: 40_000 },
  });
  expect((await curl(path, '-I')).text.toLowerCase()).toContain('upload-offset: 40000');
  expect((await post('/api/jobs/curl-4/commit')).json).toMatchObject({
    code: 'wrong-state',
    detail: expect.stringContaining('40000 of 100000 bytes') as unknown,
  });
  expect(await curl(path, ...type, '-H', 'upload-offset: 40000', '-T', 'rest.bin')).toMatchObject({ status: 201 });
  expect((await post('/api/jobs/curl-4/commit')).status).toBe(200);
});

it('problems have a readable detail', async () => {
  const wrong = await post('/api/jobs', { queue: 'no/such', priorty: 1 });
  expect(wrong).toMatchObject({ status: 400, json: { code: 'bad-input', problems: expect.any(Array) as unknown } });
  expect(await curl('/api/jobs/none/attachments/x')).toMatchObject({ status: 404 });
  expect(await curl('/api/jobs/none/attempts/x/log')).toMatchObject({ status: 400 });
  expect(await curl('/api/jobs/none/attachments/x', '-X', 'PATCH')).toMatchObject({ status: 405 });
});
