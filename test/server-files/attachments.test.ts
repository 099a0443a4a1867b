/** Attachments over HTTP: uploads, complete and partial downloads, and refusals that leave no file behind. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, flipBit, sha256Of } from '../processes/blobs-workbench.ts';
import { FilesBench } from './files-bench.ts';

const bench = new FilesBench();
const content = bytesOf(300_000);
const sha256 = sha256Of(content);
const at = (id: string, name: string): string => `/api/jobs/${id}/attachments/${encodeURIComponent(name)}`;

beforeAll(async () => {
  await bench.start();
});

const files = (): readonly string[] => (readdirSync(bench.home, { recursive: true }) as string[]).sort();
const list = async (id: string) => (await bench.ask('GET', `/api/jobs/${id}/attachments`)).json;

describe('a file of a draft', () => {
  beforeAll(async () => {
    await bench.add('nobody', 'parts', { draft: true });
    expect(await bench.ask('PUT', at('parts', 'film.bin'), { bytes: content })).toMatchObject({
      status: 201,
      headers: { 'upload-offset': '300000', 'upload-length': '300000' },
      json: { name: 'film.bin', sha256, size: 300_000, direction: 'in' },
    });
  });

  it('S17 is downloaded unchanged, as a file to save and never as a page', async () => {
    const { status, headers, bytes } = await bench.ask('GET', at('parts', 'film.bin'));
    expect(status).toBe(200);
    expect(bytes.equals(content)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '300000',
      'content-disposition': "attachment; filename*=UTF-8''film.bin",
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: `"${sha256}"`,
      'repr-digest': `sha-256=:${createHash('sha256').update(content).digest('base64')}:`,
    });
  });

  it.each<[range: string, status: number, from: number, to: number]>([
    ['bytes=0-0', 206, 0, 1],
    ['bytes=0-299999', 206, 0, 300_000],
    ['bytes=100-', 206, 100, 300_000],
    ['bytes=-1', 206, 299_999, 300_000],
    ['bytes=-400000', 206, 0, 300_000],
    ['bytes=299999-999999999999999', 206, 299_999, 300_000],
    ['bytes=300000-', 416, 0, 0],
    ['bytes=-0', 416, 0, 0],
    // Malformed ranges, other units and several parts are ignored.
    ['bytes=5-3', 200, 0, 300_000],
    ['bytes=a-b', 200, 0, 300_000],
    ['bytes=-', 200, 0, 300_000],
    ['lines=1-2', 200, 0, 300_000],
    ['bytes=0-1,5-6', 200, 0, 300_000],
  ])('Range %s is answered with %i', async (range, status, from, to) => {
    const answer = await bench.ask('GET', at('parts', 'film.bin'), { headers: { range } });
    expect(answer.status).toBe(status);
    if (status === 416) return expect(answer.headers['content-range']).toBe('bytes */300000');
    expect(answer.bytes.equals(content.subarray(from, to))).toBe(true);
    if (status === 206) expect(answer.headers['content-range']).toBe(`bytes ${from}-${to - 1}/300000`);
  });

  it('a range is sent only for the same content, and 304 if the client has the content', async () => {
    const ask = (headers: object) => bench.ask('GET', at('parts', 'film.bin'), { headers: { ...headers } });
    expect(await ask({ range: 'bytes=1-2', 'if-range': `"${sha256}"` })).toMatchObject({ status: 206 });
    expect(await ask({ range: 'bytes=1-2', 'if-range': '"other"' })).toMatchObject({ status: 200 });
    expect(await ask({ 'if-none-match': `"other", "${sha256}"` })).toMatchObject({
      status: 304,
      bytes: Buffer.alloc(0),
    });
  });

  it('is gone after a DELETE, and cannot be deleted after the job started', async () => {
    await bench.ask('PUT', at('parts', 'gone'), { bytes: Buffer.from('x') });
    expect(await bench.ask('DELETE', at('parts', 'gone'))).toMatchObject({ status: 204 });
    expect(await bench.ask('DELETE', at('parts', 'gone'))).toMatchObject({ status: 404 });
    expect(await bench.ask('GET', at('parts', 'gone'))).toMatchObject({ status: 404 });
    await bench.add('nobody', 'begun');
    expect(await bench.ask('DELETE', at('begun', 'x'))).toMatchObject({ status: 409, json: { code: 'wrong-state' } });
    const late = await bench.ask('PUT', at('begun', 'late'), { bytes: content });
    expect(late).toMatchObject({ status: 409, json: { code: 'wrong-state' } });
  });
});

it('an empty file is a file', async () => {
  await bench.add('nobody', 'empty', { draft: true });
  expect(await bench.ask('PUT', at('empty', 'void'), { bytes: Buffer.alloc(0) })).toMatchObject({ status: 201 });
  expect(await bench.ask('GET', at('empty', 'void'))).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
  const { status } = await bench.ask('GET', at('empty', 'void'), { headers: { range: 'bytes=0-' } });
  expect(status).toBe(416);
});

it('a file replaces one of the same name', async () => {
  await bench.add('nobody', 'again', { draft: true });
  await bench.ask('PUT', at('again', 'x'), { bytes: Buffer.from('first') });
  await bench.ask('PUT', at('again', 'x'), { bytes: Buffer.from('second') });
  expect((await bench.ask('GET', at('again', 'x'))).bytes.toString()).toBe('second');
  expect(await list('again')).toMatchObject({ attachments: [{ name: 'x', size: 6 }] });
});

it('the announced hash is verified, and content with another hash is not stored', async () => {
  await bench.add('nobody', 'hashed', { draft: true });
  const put = (headers: Record<string, string>) => bench.ask('PUT', at('hashed', 'x'), { bytes: content, headers });
  const wrong = sha256Of(Buffer.from('other'));
  expect(await put({ 'x-content-sha256': wrong })).toMatchObject({ status: 400, json: { code: 'bad-input' } });
  const digest = createHash('sha256').update('other').digest('base64');
  expect(await put({ 'repr-digest': `sha-256=:${digest}:` })).toMatchObject({ status: 400 });
  expect(await put({ 'x-content-sha256': 'short' })).toMatchObject({
    status: 400,
    json: { problems: [{ path: 'x-content-sha256' }] },
  });
  expect(await list('hashed')).toEqual({ attachments: [] });
  expect(await bench.call('commit', ['hashed'])).toMatchObject([{ ok: true }]);
  await bench.add('nobody', 'right', { draft: true });
  const right = createHash('sha256').update(content).digest('base64');
  const headers = { 'repr-digest': `sha-512=:AAAA:, sha-256=:${right}:` };
  expect(await bench.ask('PUT', at('right', 'x'), { bytes: content, headers })).toMatchObject({ status: 201 });
});

describe('S18 malicious names', () => {
  const names = [
    '../../etc/passwd',
    '..%2f..%2fx',
    '/abs',
    'a/../../b',
    '.',
    '..',
    'a\0b',
    'a\nb',
    'x'.repeat(300),
    'CON',
    'dot.',
    '.tmp-x',
    'a\\b',
    '\u202egnp.exe',
  ];
  it('are refused with a reason, and no file is written', async () => {
    await bench.add('nobody', 'named', { draft: true });
    const before = files();
    for (const name of names) {
      const { status, json } = await bench.ask('PUT', at('named', name), { bytes: content });
      // A client or a proxy may remove . and .. from a URL before it is sent.
      if (status === 400) expect({ name, json }).toMatchObject({ name, json: { problems: [{ path: 'name' }] } });
      else expect([404, 405]).toContain(status);
    }
    expect(files()).toEqual(before);
    expect(await list('named')).toEqual({ attachments: [] });
  });

  it('include names that look like another', async () => {
    await bench.ask('PUT', at('named', 'caf\u00e9'), { bytes: content });
    expect(await bench.ask('PUT', at('named', 'cafe\u0301'), { bytes: content })).toMatchObject({ status: 400 });
    const { headers } = await bench.ask('GET', at('named', 'caf\u00e9'));
    expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''caf%C3%A9");
  });
});

it('content that is too large or of another type is refused before it is sent', async () => {
  await bench.add('nobody', 'large', { draft: true });
  const put = (headers: Record<string, string>) =>
    bench.ask('PUT', at('large', 'x'), { headers: { expect: '100-continue', ...headers } });
  const type = { 'content-type': 'application/octet-stream' };
  expect(await put({ ...type, 'content-length': '100000000000000' })).toMatchObject({ status: 413 });
  expect(await put({ ...type, 'content-length': '5', 'upload-length': '20000000000' })).toMatchObject({ status: 413 });
  expect(await put({ 'content-type': 'text/html', 'content-length': '5' })).toMatchObject({ status: 415 });
  expect(await put({ ...type, 'content-length': '5', 'upload-offset': '-1' })).toMatchObject({ status: 400 });
  expect(await bench.ask('PUT', at('nothing', 'x'), { bytes: content })).toMatchObject({ status: 404 });
  expect(await bench.call('commit', ['large'])).toMatchObject([{ ok: true }]);
});

it('only the holder of the lease can add outputs', async () => {
  await bench.add('mine', 'output');
  await bench.call('keepWorker', {
    id: 'w',
    host: 'h',
    pid: 1,
    queues: ['mine'],
    leaseMs: 60_000,
    info: '{}',
    kind: 'register',
  });
  const { jobs } = await bench.call<{ jobs: { lease: { token: number } }[] }>('claim', {
    worker: 'w',
    queues: ['mine'],
    limit: 1,
    requestId: 'r1',
  });
  const token = jobs[0]?.lease.token ?? 0;
  const put = (lease: number) =>
    bench.ask('PUT', at('output', 'made'), { bytes: content, headers: { 'lease-token': String(lease) } });
  expect(await put(token + 1)).toMatchObject({ status: 409, json: { code: 'lease-lost' } });
  expect(await put(token)).toMatchObject({ status: 201, json: { direction: 'out', sha256 } });
  await bench.call('settle', [{ id: 'output', token, kind: 'complete' }]);
  expect(await put(token)).toMatchObject({ status: 409, json: { code: 'lease-lost' } });
});

it('a file that is damaged on disk is never served completely', async () => {
  await bench.add('nobody', 'damaged', { draft: true });
  const mine = bytesOf(2_000_000, 7);
  await bench.ask('PUT', at('damaged', 'x'), { bytes: mine });
  flipBit(join(bench.home, 'blobs', sha256Of(mine).slice(0, 2), sha256Of(mine)));
  await expect(bench.ask('GET', at('damaged', 'x'))).rejects.toThrow('aborted');
  expect(await bench.stateOf('damaged')).toBe('draft');
});
