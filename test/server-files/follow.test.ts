/** Log streams: no byte is missed or sent twice, even when the node restarts or the log reaches its size limit. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { eventually, FilesBench } from './files-bench.ts';
import { type Message, textOf } from './stream-reader.ts';

const MB = 1024 ** 2;
const bench = new FilesBench();
const events = (id: string): string => `/api/jobs/${id}/attempts/latest/log/events`;
const isEnd = ({ event }: Message): boolean => event === 'end';
const holds =
  (words: string) =>
  ({ data }: Message) =>
    (data['text'] as string | undefined)?.includes(words) === true;

/** Scripts wait for files in this directory, so that the tests control their progress. */
const go = (name: string): void => writeFileSync(join(bench.home, name), '');
const waitFor = (name: string): string => `while [ ! -e "${bench.home}/${name}" ]; do sleep 0.02; done`;

beforeAll(async () => {
  bench.queue(
    'steps',
    `echo one; ${waitFor('two')}; echo two; ${waitFor('three')}; printf '\\xc3'; ${waitFor('four')}; printf '\\xa9t\\xc3\\xa9\\n'; exit 3`,
  );
  bench.queue(
    'capped',
    `seq 1 20000; ${waitFor('more')}; seq 20001 60000; ${waitFor('most')}; seq 60001 70000; echo last`,
    {
      limits: { log: '200 KB' },
    },
  );
  bench.queue('ticking', `for n in $(seq 1 400); do echo "tick $n"; sleep 0.02; done; ${waitFor('enough')}; echo over`);
  bench.queue('loud', `yes "$(printf 'much %.0s' {1..20})" | head -c ${60 * MB}; ${waitFor('quiet')}`);
  await bench.start();
});

it('text is streamed as it is printed, in whole characters, and the end has the exit status', async () => {
  await bench.add('nobody', 'before', {});
  const reader = await bench.read(events(await bench.add('steps', 'steps')));
  await reader.next(holds('one'));
  expect(reader.messages.some(holds('two'))).toBe(false);
  go('two');
  await reader.next(holds('two'));
  go('three');
  await eventually(
    () => bench.log('steps').length,
    (length) => length > 8,
  );
  // The first half of a character is in the log, but is not sent before the second half.
  const second = await bench.read(events('steps'));
  expect((await second.next(({ event }) => event === 'text')).data).toMatchObject({ text: 'one\ntwo\n', to: 8 });
  go('four');
  expect((await reader.next(isEnd)).data).toEqual({ attempt: 1, state: 'failed', exit: 3, signal: null });
  await reader.ended();
  await second.ended();
  for (const { messages } of [reader, second]) expect(textOf(messages)).toBe('one\ntwo\n\u00e9t\u00e9\n');
});

it('a reader that resumes with the last id gets the rest, and a late reader gets everything', async () => {
  const reader = await bench.read(events('steps'), { 'last-event-id': '4' });
  await reader.next(isEnd);
  expect(reader.messages.map(({ data }) => data['text'] as string | undefined).join('')).toBe('two\n\u00e9t\u00e9\n');
  const from = await bench.read(`${events('steps')}?from=8`);
  await from.next(isEnd);
  expect(from.messages[0]?.data).toMatchObject({ offset: 8, text: '\u00e9t\u00e9\n' });
  const late = await bench.read(events('steps'));
  await late.next(isEnd);
  expect(textOf(late.messages)).toBe('one\ntwo\n\u00e9t\u00e9\n');
  expect(await bench.ask('GET', `${events('steps')}?from=-1`)).toMatchObject({ status: 400 });
  expect(await bench.ask('GET', events('nothing'))).toMatchObject({ status: 404 });
});

it('the stream waits for a job that has not started', async () => {
  await bench.add('later', 'later');
  const reader = await bench.read(events('later'));
  expect(reader.status).toBe(200);
  bench.queue('later', 'echo here at last');
  await reader.next(isEnd);
  expect(textOf(reader.messages)).toBe('here at last\n');
});

it('a log that is truncated at its limit sends a reset, after which the reader has the current content', async () => {
  const reader = await bench.read(events(await bench.add('capped', 'capped')));
  await reader.next(holds('\n20000\n'));
  expect(reader.messages.some(({ event }) => event === 'reset')).toBe(false);
  go('more');
  const reset = await reader.next(({ event }) => event === 'reset');
  expect(reset.data['generation']).toBeGreaterThan(0);
  expect(reset.id).toBe(`${String(reset.data['offset'])}.${String(reset.data['generation'])}`);
  // A reader that was disconnected during the truncation, with an id from before it.
  const away = await bench.read(events('capped'), { 'last-event-id': '100000' });
  expect((await away.next(() => true)).event).toBe('reset');
  const near = await bench.read(events('capped'), { 'last-event-id': '10' });
  expect((await near.next(() => true)).event).toBe('text');
  go('most');
  for (const each of [reader, near]) {
    await each.next(isEnd, 60_000);
  }
  expect(textOf(reader.messages)).toBe(bench.log('capped'));
  expect(textOf(reader.messages)).toMatch(/bytes of output were dropped here/);
  expect(textOf(reader.messages)).toMatch(/last\n$/);
});

it('a follower resumes after a restart and a crash of the node: no line is missing or duplicated', async () => {
  await bench.add('ticking', 'ticking');
  const heard: Message[] = [];
  const follow = async (until: (message: Message) => boolean): Promise<void> => {
    const last = heard.findLast(({ id }) => id !== null)?.id;
    const reader = await bench.read(events('ticking'), last ? { 'last-event-id': last } : {});
    await reader.next(until, 30_000);
    const known = reader.messages.length;
    heard.push(...reader.messages.slice(0, known));
    reader.close();
  };
  await follow(holds('tick 20\n'));
  await bench.terminate();
  await bench.start();
  await follow(holds('tick 150\n'));
  await bench.kill9();
  await bench.start();
  await follow(holds('tick 400\n'));
  go('enough');
  await follow(isEnd);
  expect(textOf(heard)).toBe(bench.log('ticking'));
  expect(textOf(heard).split('\n').length).toBe(402);
});

it('a shutdown ends the streams', async () => {
  const reader = await bench.read(events(await bench.add('nobody', 'idle')));
  await bench.terminate();
  await reader.ended(10_000);
  await bench.start();
});

it('a reader that does not read uses no memory, and gets everything when it reads again', async () => {
  await bench.add('loud', 'loud');
  const path = join(bench.home, 'jobs', 'loud', 'attempts', '1', 'log');
  await eventually(
    () => existsSync(path) && bench.log('loud').length,
    (length) => length === 60 * MB,
    60_000,
  );
  const slow = await bench.read(events('loud'));
  slow.pause();
  const growth = await bench.growthDuring(async () => {
    const quick = await bench.read(events('loud'));
    await quick.next(({ data }) => data['to'] === 60 * MB, 60_000);
    expect(slow.messages.some(({ data }) => data['to'] === 60 * MB)).toBe(false);
    slow.resume();
    await slow.next(({ data }) => data['to'] === 60 * MB, 60_000);
  });
  go('quiet');
  process.stdout.write(
    `\nfigures: a log of 60 MB told to two readers, the node grew by at most ${Math.round(growth / MB)} MB\n`,
  );
  expect(growth).toBeLessThan(64 * MB);
});
