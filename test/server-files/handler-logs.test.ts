/** Handlers of a process beside a node: their log lines are sent to it, kept in its data directory, and read as any log. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { LinesPage } from '../../src/node/attempts/log-lines.ts';
import { FilesBench } from './files-bench.ts';

const bench = new FilesBench();
const LINES = 5_000;

beforeAll(() => bench.start());

it('keeps every line of a handler that logs a lot, in order', async () => {
  await using longhaul = await connect(`unix:${join(bench.home, 'node.sock')}`);
  const queue = longhaul.queue('typed');
  queue.work((job) => {
    for (let at = 1; at <= LINES; at += 1) job.log(`line ${at} of a handler`);
  });
  const job = await queue.add(null);
  await job.finished();
  const text = Array.from({ length: LINES }, (_, at) => `line ${at + 1} of a handler\n`).join('');
  expect(readFileSync(join(bench.home, 'jobs', job.id, 'attempts', '1', 'log'), 'utf8')).toBe(text);
  let read = '';
  for await (const part of longhaul.logs(job.id)) read += part;
  expect(read).toBe(text);
  const path = `/api/jobs/${job.id}/attempts`;
  const { lines } = (await bench.ask('GET', `${path}/latest/log?tail=1`)).json as LinesPage;
  expect(lines).toMatchObject([{ line: LINES, text: `line ${LINES} of a handler` }]);
  expect((await bench.ask('GET', path)).json).toMatchObject({ attempts: [{ log: { size: text.length, dropped: 0 } }] });
});
