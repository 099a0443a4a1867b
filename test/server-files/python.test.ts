/** Python's standard library as a producer and as a worker: plain HTTP without a client library. */
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { hasProgram } from '../processes/runner-workbench.ts';
import { testSize } from '../support/test-size.ts';
import { FilesBench } from './files-bench.ts';

vi.setConfig({ testTimeout: 300_000 });
const MB = 1024 ** 2;
const size = testSize({ small: 20, full: 200 }) * MB;
const bench = new FilesBench();
const fixture = (name: string): string => join(import.meta.dirname, '..', 'fixtures', name);
const python = (name: string, ...args: string[]): Promise<string> =>
  bench.run('python3', ['-B', fixture(name), bench.url, ...args], 280_000);

beforeAll(() => bench.start());

it.skipIf(!hasProgram('python3'))(
  `a producer sends ${size / MB} MB over two cuts; a worker claims, renews, adds an output and settles`,
  async () => {
    const working = python('http_worker.py', 'films');
    const made = JSON.parse(await python('http_producer.py', 'films', 'film-1', String(size))) as {
      readonly sha256: string;
      readonly offsets: readonly number[];
    };
    expect(made).toMatchObject({
      stored: made.sha256,
      size,
      state: 'done',
      result: { sha256: made.sha256, length: size },
      back: [made.sha256, size],
      outputs: ['report.json'],
    });
    expect(made.offsets[0]).toBeGreaterThan(0);
    expect(made.offsets[1]).toBeGreaterThanOrEqual(made.offsets[0] ?? 0);
    await bench.ask('POST', '/api/jobs', { json: { id: 'film-2', queue: 'films', data: { fail: true } } });
    const lines = (await working).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { id: 'film-1', settled: { state: 'done' }, late: 'lease-lost' },
      { id: 'film-2', settled: { state: 'failed' }, late: 'lease-lost' },
    ]);
    expect((JSON.parse(lines[0] ?? '{}') as { beats: number }).beats).toBeGreaterThan(0);
    const { json } = await bench.ask('GET', '/api/jobs/film-2');
    expect(json).toMatchObject({ state: 'failed', failure: { group: 'asked', message: 'it was asked to fail' } });
    expect(bench.troubles).toEqual([]);
  },
);
