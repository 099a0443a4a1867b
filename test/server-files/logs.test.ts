/** The log of an attempt over HTTP: bytes, lines, searches. Script output is always text, and secrets are masked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LinesPage } from '../../src/node/attempts/log-lines.ts';
import { eventually, FilesBench } from './files-bench.ts';
import { textOf } from './stream-reader.ts';

const bench = new FilesBench();
const log = (id: string, more = ''): string => `/api/jobs/${id}/attempts/latest/log${more}`;
const fileOf = (id: string): Buffer => readFileSync(join(bench.home, 'jobs', id, 'attempts', '1', 'log'));

interface Found {
  readonly matches: readonly { line: number; offset: number; text: string }[];
  readonly stopped: string | null;
  readonly next: string | null;
}

async function done(queue: string, id: string): Promise<void> {
  await bench.add(queue, id);
  await eventually(
    () => bench.stateOf(id),
    (state) => state === 'done',
    30_000,
  );
}

beforeAll(async () => {
  bench.queue('lines', 'for n in $(seq 1 5000); do echo "line $n of this"; done');
  bench.queue('secret', 'echo "the key is $KEY, and $KEY again"; printf "half ${KEY:0:6}"', {
    secrets: { KEY: 'hush-hush-9' },
  });
  bench.queue(
    'hostile',
    `printf '\\033]8;;javascript:alert(1)\\007x\\033]0;title\\007\\033[2J\\033[6n\\r\\n<script>alert(1)</script>\\n'
printf 'data: {"not":"ours"}\\n\\nevent: end\\n\\n'
printf '\\xff\\xfe\\xc3\\n\\xe2\\x80\\xaegnp.exe\\n\\xf0\\x9f\\x9a\\x80 rocket\\n\\xf0\\x9f'
head -c 200000 /dev/zero | tr '\\0' '\\033'`,
  );
  await bench.start();
});

describe('the lines of a log', () => {
  beforeAll(() => done('lines', 'counted'));

  it('are returned by number, with offset and time', async () => {
    const page = (await bench.ask('GET', log('counted', '?line=4000&lines=3'))).json as LinesPage;
    expect(page.lines.map(({ line, text }) => [line, text])).toEqual([
      [4000, 'line 4000 of this'],
      [4001, 'line 4001 of this'],
      [4002, 'line 4002 of this'],
    ]);
    expect(page).toMatchObject({ next: 4003, generation: 0, size: fileOf('counted').length });
    const first = page.lines[0]?.offset ?? 0;
    expect(fileOf('counted').toString('utf8', first, first + 9)).toBe('line 4000');
    const { attempts } = (await bench.ask('GET', '/api/jobs/counted/attempts')).json as {
      attempts: { claimedAt: number; end: { endedAt: number } }[];
    };
    expect(page.lines[0]?.at).toBeGreaterThanOrEqual(attempts[0]?.claimedAt ?? Number.NaN);
  });

  it('the last lines are returned directly, and a page beyond the end is empty', async () => {
    const tail = (await bench.ask('GET', log('counted', '?tail=2'))).json as LinesPage;
    expect(tail.lines.map(({ line, text }) => [line, text])).toEqual([
      [4999, 'line 4999 of this'],
      [5000, 'line 5000 of this'],
    ]);
    const all = (await bench.ask('GET', log('counted', '?tail=10000'))).json as LinesPage;
    expect(all.lines.length).toBe(5_000);
    const beyond = (await bench.ask('GET', log('counted', '?line=9000'))).json as LinesPage;
    expect(beyond.lines).toEqual([]);
  });

  it.each(['?line=0', '?lines=1000000000', '?tail=-1', '?tail=x', '?line=1e9', '?nothing=1'])(
    '%s is refused with words',
    async (query) => {
      const answer = await bench.ask('GET', log('counted', query));
      expect(answer).toMatchObject({ status: 400, json: { code: 'bad-input' } });
    },
  );

  it('bytes are returned by range, as plain text that no browser treats as a page', async () => {
    const file = fileOf('counted');
    const whole = await bench.ask('GET', log('counted'));
    expect(whole.bytes.equals(file)).toBe(true);
    expect(whole.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'log-generation': '0',
    });
    const ask = (range: string, more = {}) => bench.ask('GET', log('counted'), { headers: { range, ...more } });
    expect((await ask('bytes=10-29')).bytes.equals(file.subarray(10, 30))).toBe(true);
    expect((await ask('bytes=-7')).bytes.toString()).toBe('f this\n');
    expect(await ask(`bytes=${file.length}-`)).toMatchObject({ status: 416 });
    expect(await ask('bytes=10-19', { 'if-range': '"0-5"' })).toMatchObject({ status: 206 });
    expect(await ask('bytes=10-19', { 'if-range': '"1-5"' })).toMatchObject({ status: 200 });
  });

  it('are searched by text or by expression, page by page', async () => {
    const search = async (query: string) => (await bench.ask('GET', log('counted', `/search?${query}`))).json as Found;
    const found = await search('q=line%204999%20of');
    expect(found).toMatchObject({ matches: [{ line: 4999, text: 'line 4999 of this' }], stopped: null, next: null });
    for (const words of ['q=99%20of', 'q=99.of&regex=true', 'q=99%20OF&ignoreCase=true']) {
      const lines: number[] = [];
      for (let after = ''; ; ) {
        const page = await search(`${words}&limit=7${after}`);
        for (const { line, offset, text } of page.matches) {
          lines.push(line);
          expect(text).toBe(`line ${line} of this`);
          expect(fileOf('counted').toString('utf8', offset, offset + 5)).toBe('99 of');
        }
        if (page.next === null) break;
        after = `&after=${page.next}`;
      }
      expect({ words, lines }).toEqual({ words, lines: Array.from({ length: 50 }, (_, place) => place * 100 + 99) });
    }
  });

  it.each([
    '',
    '?q=',
    '?q=(&regex=true',
    '?q=x&regex=maybe',
    '?q=x&limit=1000000',
    '?q=x&after=1',
    `?q=${'x'.repeat(2_000)}`,
  ])('a search for %s is refused with a reason', async (query) => {
    const answer = await bench.ask('GET', log('counted', `/search${query}`));
    expect(answer).toMatchObject({ status: 400, json: { code: 'bad-input' } });
  });

  it('an expression that would take forever does not block other requests', async () => {
    const slow = bench.ask(
      'GET',
      log('counted', `/search?regex=true&q=${encodeURIComponent('((l*i*n*e*)*)*\\1\\2zzz')}`),
    );
    const started = performance.now();
    expect(await bench.stateOf('counted')).toBe('done');
    expect(performance.now() - started).toBeLessThan(5_000);
    const { status } = await slow;
    expect([200, 400]).toContain(status);
  });
});

it('jobs, attempts and logs that do not exist are 404', async () => {
  await bench.add('nobody', 'idle');
  for (const path of [log('nothing'), log('idle'), '/api/jobs/nothing/attempts', '/api/jobs/counted/attempts/2/log'])
    expect({ path, ...(await bench.ask('GET', path)) }).toMatchObject({
      path,
      status: 404,
      json: { code: 'not-found' },
    });
  expect((await bench.ask('GET', '/api/jobs/idle/attempts')).json).toEqual({ attempts: [] });
  expect(await bench.ask('GET', '/api/jobs/idle/attempts/0/log')).toMatchObject({ status: 400 });
});

it('an attempt has its script, its end and its resource usage', async () => {
  const { attempts } = (await bench.ask('GET', '/api/jobs/counted/attempts')).json as { attempts: object[] };
  expect(attempts).toMatchObject([
    {
      attempt: 1,
      isRunning: false,
      outcome: 'completed',
      script: { script: join(bench.queues, 'lines'), argv: [join(bench.queues, 'lines')] },
      end: { exit: 0, signal: null, refused: [], stopped: { left: 0 } },
      log: { size: fileOf('counted').length, generation: 0 },
    },
  ]);
});

it('secrets are masked in every way of reading a log, and cannot be found by search', async () => {
  await done('secret', 'secrets');
  const shown = 'the key is ***********, and *********** again\nhalf hush-h';
  expect((await bench.ask('GET', log('secrets'))).bytes.toString()).toBe(shown);
  const part = await bench.ask('GET', log('secrets'), { headers: { range: 'bytes=13-16' } });
  expect(part.bytes.toString()).toBe('****');
  const page = (await bench.ask('GET', log('secrets', '?tail=5'))).json as LinesPage;
  expect(page.lines[0]?.text).toBe(shown.split('\n')[0]);
  const { matches } = (await bench.ask('GET', log('secrets', '/search?q=hush-hush'))).json as Found;
  expect(matches).toEqual([]);
  const reader = await bench.read(log('secrets', '/events'));
  await reader.next(({ event }) => event === 'end');
  expect(textOf(reader.messages)).toBe(shown);
});

it('script output is always text: it cannot forge stream messages, and its bytes are unchanged', async () => {
  await done('hostile', 'hostile');
  const file = fileOf('hostile');
  expect((await bench.ask('GET', log('hostile'))).bytes.equals(file)).toBe(true);
  const reader = await bench.read(log('hostile', '/events'));
  const end = await reader.next(({ event }) => event === 'end');
  expect(end.data).toMatchObject({ state: 'done', exit: 0 });
  // The "event: end" that the script printed was part of a text.
  expect(reader.messages.map(({ event }) => event).filter((event) => event !== 'text')).toEqual(['end']);
  const text = reader.messages.map(({ data }) => data['text'] as string | undefined).join('');
  expect(text).toBe(file.toString('utf8'));
  const { lines } = (await bench.ask('GET', log('hostile', '?line=1'))).json as LinesPage;
  for (const { offset, text: shown } of lines.slice(0, -1))
    expect(file.toString('utf8', offset, file.indexOf(0x0a, offset))).toBe(shown);
  expect(lines.map(({ text: shown }) => shown)).toContain('\u{1f680} rocket');
});
