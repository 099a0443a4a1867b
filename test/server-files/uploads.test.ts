/** Interrupted uploads resume where they stopped, at any byte; memory does not depend on their size. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { beforeAll, expect, it, vi } from 'vitest';
import { openRandom } from '../faults/seeded-random.ts';
import { bytesOf, sha256Of } from '../processes/blobs-workbench.ts';
import { testSize } from '../support/test-size.ts';
import { eventually, FilesBench } from './files-bench.ts';

vi.setConfig({ testTimeout: 300_000 });
const MB = 1024 ** 2;
const bench = new FilesBench();
const at = (id: string): string => `/api/jobs/${id}/attachments/film`;

beforeAll(async () => {
  await bench.start();
});

/** Sends a PUT and disconnects after some bytes of its body, like a machine that is suspended. */
function cutPut(
  id: string,
  { offset, bytes, size }: { offset: number; bytes: Uint8Array; size: number },
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(bench.port, '127.0.0.1', () => {
      const head = [
        `PUT ${at(id)} HTTP/1.1`,
        'host: localhost',
        'content-type: application/octet-stream',
        `content-length: ${size - offset}`,
        `upload-offset: ${offset}`,
        `upload-length: ${size}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(bytes, () => socket.destroy());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}

async function offsetOf(id: string): Promise<number> {
  const { status, headers } = await bench.ask('HEAD', at(id));
  return status === 404 ? 0 : Number(headers['upload-offset']);
}

/** Uploads like a careful client: on a wrong offset, it continues at the server's offset. */
async function sendRest(id: string, content: Buffer, from: number) {
  for (let offset = from; ; ) {
    const headers = { 'upload-offset': offset, 'upload-length': content.length };
    const answer = await bench.ask('PUT', at(id), { bytes: content.subarray(offset), headers });
    if (answer.status !== 409) return answer;
    offset = Number(answer.headers['upload-offset']);
  }
}

it('an upload that is interrupted at random bytes completes, and cannot be committed before', async () => {
  const content = bytesOf(testSize({ small: 8, full: 200 }) * MB);
  const random = openRandom();
  await bench.add('nobody', 'cut', { draft: true });
  const begun = { bytes: content.subarray(0, 1_000), headers: { 'upload-offset': 0, 'upload-length': content.length } };
  expect(await bench.ask('PUT', at('cut'), begun)).toMatchObject({ status: 202 });
  for (let cuts = 0; cuts < testSize({ small: 12, full: 60 }); cuts += 1) {
    const offset = await offsetOf('cut');
    const length = Math.floor(random.next() * (content.length - offset) * 0.5);
    await cutPut('cut', { offset, bytes: content.subarray(offset, offset + length), size: content.length });
    const [answer] = await bench.call<{ ok: boolean; refusal?: { message: string } }[]>('commit', ['cut']);
    if (answer?.ok !== false) throw new Error('a draft with a half attachment was committed');
    expect(answer.refusal?.message).toMatch(/attachment film of job cut is incomplete: \d+ of \d+ bytes received/);
    expect(await bench.ask('GET', at('cut'))).toMatchObject({ status: 404 });
  }
  expect(await sendRest('cut', content, await offsetOf('cut'))).toMatchObject({
    status: 201,
    json: { sha256: sha256Of(content), size: content.length },
  });
  expect(await bench.call('commit', ['cut'])).toMatchObject([{ ok: true }]);
});

it('an upload resumes after the node was killed', async () => {
  const content = bytesOf(5 * MB, 3);
  await bench.add('nobody', 'killed', { draft: true });
  await cutPut('killed', { offset: 0, bytes: content.subarray(0, 3 * MB), size: content.length });
  await eventually(
    () => offsetOf('killed'),
    (offset) => offset > 0,
  );
  await bench.kill9();
  await bench.start();
  const offset = await offsetOf('killed');
  expect(offset).toBeGreaterThan(0);
  expect(offset).toBeLessThanOrEqual(3 * MB);
  expect(await sendRest('killed', content, offset)).toMatchObject({ status: 201, json: { sha256: sha256Of(content) } });
});

it('chunks at a wrong offset are refused with the right offset', async () => {
  const content = bytesOf(1_000, 4);
  await bench.add('nobody', 'pieces', { draft: true });
  const put = (offset: number, end: number, more = {}) =>
    bench.ask('PUT', at('pieces'), {
      bytes: content.subarray(offset, end),
      headers: { 'upload-offset': offset, 'upload-length': 1_000, ...more },
    });
  expect(await put(500, 600)).toMatchObject({ status: 409, headers: { 'upload-offset': '0' } });
  expect(await put(0, 400)).toMatchObject({
    status: 202,
    headers: { 'upload-offset': '400', 'upload-length': '1000' },
  });
  expect(await put(300, 400)).toMatchObject({ status: 409, headers: { 'upload-offset': '400' } });
  expect(await bench.ask('HEAD', at('pieces'))).toMatchObject({
    status: 200,
    headers: { 'upload-offset': '400', 'upload-length': '1000' },
  });
  expect(await put(400, 1_000, { 'upload-length': 700 })).toMatchObject({ status: 400 });
  expect(await put(400, 1_000)).toMatchObject({ status: 201, json: { sha256: sha256Of(content) } });
  // The answer was lost: a repeat gets the same answer.
  expect(await put(1_000, 1_000)).toMatchObject({ status: 201, json: { sha256: sha256Of(content) } });
});

it('a wrong hash at the end discards the upload, and a new one begins at 0', async () => {
  const content = bytesOf(1_000, 5);
  await bench.add('nobody', 'spoilt', { draft: true });
  const headers = { 'upload-offset': 0, 'upload-length': 1_000, 'x-content-sha256': sha256Of(Buffer.from('no')) };
  expect(await bench.ask('PUT', at('spoilt'), { bytes: content.subarray(0, 600), headers })).toMatchObject({
    status: 202,
  });
  const rest = { bytes: content.subarray(600), headers: { 'upload-offset': 600 } };
  expect(await bench.ask('PUT', at('spoilt'), rest)).toMatchObject({ status: 400 });
  expect(await bench.ask('HEAD', at('spoilt'))).toMatchObject({ status: 404 });
  expect(await bench.ask('PUT', at('spoilt'), { bytes: content })).toMatchObject({ status: 201 });
});

it('of two uploads of the same file, the later one wins', async () => {
  const content = bytesOf(4 * MB, 6);
  await bench.add('nobody', 'two', { draft: true });
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield content.subarray(0, 1 * MB);
    await held;
    yield content.subarray(1 * MB);
  }
  const first = bench.ask('PUT', at('two'), { bytes: slowly() }).catch((error: Error) => error);
  await eventually(
    () => offsetOf('two'),
    (offset) => offset > 0,
  );
  expect(await bench.ask('PUT', at('two'), { bytes: content })).toMatchObject({ status: 201 });
  go();
  const lost = await first;
  if (!(lost instanceof Error)) expect(lost.status).toBe(409);
  expect((await bench.ask('GET', at('two'))).bytes.equals(content)).toBe(true);
});

it('an abandoned upload does not block the commit of a draft', async () => {
  await bench.add('nobody', 'given-up', { draft: true });
  await bench.ask('PUT', at('given-up'), {
    bytes: Buffer.from('abc'),
    headers: { 'upload-length': 10, 'upload-offset': 0 },
  });
  expect(await bench.call('commit', ['given-up'])).toMatchObject([{ ok: false, refusal: { code: 'wrong-state' } }]);
  expect(await bench.ask('DELETE', at('given-up'))).toMatchObject({ status: 204 });
  expect(await bench.call('commit', ['given-up'])).toMatchObject([{ ok: true }]);
});

const SIZE = testSize({ small: 100, full: 1_024 }) * MB;
it(`${SIZE / MB} MB in and out over HTTP take no more than 64 MB of memory`, async () => {
  const piece = bytesOf(MB, 9);
  const hash = createHash('sha256');
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < SIZE; sent += MB) {
      hash.update(piece);
      yield piece;
    }
  }
  await bench.add('nobody', 'warm', { draft: true });
  await bench.ask('PUT', at('warm'), { bytes: bytesOf(4 * MB, 8) });
  await bench.ask('GET', at('warm'));
  await bench.add('nobody', 'huge', { draft: true });
  let isRight = false;
  const growth = await bench.growthDuring(async () => {
    const answer = await bench.ask('PUT', at('huge'), { bytes: content(), headers: { 'content-length': SIZE } });
    const expected = hash.digest('hex');
    expect(answer).toMatchObject({ status: 201, json: { sha256: expected, size: SIZE } });
    const got = await bench.run('sh', ['-c', `curl -sSf "${bench.url}${at('huge')}" | sha256sum`], 240_000);
    isRight = got.startsWith(expected);
  });
  expect(isRight).toBe(true);
  process.stdout.write(`\nfigures: ${SIZE} bytes in and out, the node grew by at most ${Math.round(growth / MB)} MB\n`);
  expect(growth).toBeLessThan(64 * MB);
});
