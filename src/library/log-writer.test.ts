import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LonghaulError } from '../core/ports/errors.ts';
import type { LostOutput } from '../core/ports/log-store.ts';
import type { LogSink } from './log-writer.ts';
import { LogWriter } from './log-writer.ts';

class TrialSink implements LogSink {
  readonly batchBytes = 1_000;
  readonly pauseMs = 0;
  text = '';
  readonly gaps: LostOutput[] = [];
  batches = 0;
  isClosed = false;
  /** Called before each batch is taken; throws where the sink fails. */
  before: () => Promise<boolean> = async () => true;

  async append(bytes: Uint8Array, gap: LostOutput | null): Promise<boolean> {
    expect(bytes.length).toBeLessThanOrEqual(this.batchBytes);
    if (!(await this.before())) return false;
    this.batches += 1;
    this.text += Buffer.from(bytes).toString();
    if (gap !== null) this.gaps.push(gap);
    return true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const unavailable = () => new LonghaulError('store-unavailable', 'no');

it('delivers lines and bytes in order, in few batches, and a line never continues an unfinished one', async () => {
  const sink = new TrialSink();
  const log = new LogWriter(() => sink);
  log.write('one');
  log.write('two\n');
  log.write(Buffer.from('half of '));
  log.write(Buffer.from('a line'));
  log.write('');
  for (let at = 0; at < 500; at += 1) log.write(`${at}`.padEnd(9));
  await log.close();
  expect(sink.text).toMatch(/^one\ntwo\nhalf of a line\n\n0 {8}\n1 {8}\n/);
  expect(sink.text.split('\n').length).toBe(505);
  expect(sink.batches).toBeLessThan(10);
  expect(sink.isClosed).toBe(true);
});

it('splits a line that is longer than a batch', async () => {
  const sink = new TrialSink();
  const log = new LogWriter(() => sink);
  log.write('x'.repeat(5_500));
  await log.close();
  expect([sink.text, sink.batches]).toEqual([`${'x'.repeat(5_500)}\n`, 6]);
});

it('repeats a batch that could not be delivered, and loses nothing of it', async () => {
  const sink = new TrialSink();
  let failures = 2;
  sink.before = async () => {
    if (failures-- > 0) throw unavailable();
    return true;
  };
  const log = new LogWriter(() => sink);
  log.write('kept');
  await log.close();
  expect(sink.text).toBe('kept\n');
});

it('drops output beyond its memory and says in the log how much and when, and that it continues', async () => {
  const sink = new TrialSink();
  let isDown = true;
  sink.before = async () => {
    if (isDown) throw unavailable();
    return true;
  };
  const log = new LogWriter(() => sink, { maxBufferedBytes: 2_000 });
  for (let at = 0; at < 500; at += 1) log.write(`${at}`.padEnd(9));
  isDown = false;
  while (sink.text.length < 2_000) await sleep(10);
  log.write('after');
  await log.close();
  const shown = sink.text.split('\n');
  expect(shown.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(9)));
  expect(shown[200]).toMatch(/^\[longhaul: 3000 bytes of output are missing here: between \S+ and \S+ they could not/);
  expect(shown.slice(201)).toEqual(['after', '']);
  expect(sink.gaps).toHaveLength(1);
});

it('marks output that was lost at the end as well', async () => {
  const sink = new TrialSink();
  const log = new LogWriter(() => sink, { maxBufferedBytes: 100 });
  log.write('x'.repeat(90));
  log.write('y'.repeat(90));
  await log.close();
  expect(sink.text).toMatch(/^x{90}\n\[longhaul: 91 bytes of output are missing here/);
});

/** A recursive mkdir of Node.js answers ENOENT on a full disk. */
const noSpace = Object.assign(new Error('no such file or directory, mkdir'), { code: 'ENOENT' });

it.each([
  ['a full store', new LonghaulError('store-full', 'Redis takes no more')],
  ['a mkdir on a full disk', noSpace],
])('repeats a delivery that failed because of %s', async (_title, error) => {
  const sink = new TrialSink();
  const troubles: unknown[] = [];
  let failures = 1;
  sink.before = async () => {
    if (failures-- > 0) throw error;
    return true;
  };
  const log = new LogWriter(() => sink, { onTrouble: (trouble) => troubles.push(trouble) });
  log.write('kept');
  await log.close();
  expect([sink.text, troubles]).toEqual(['kept\n', []]);
});

it('ends in bounded time when nothing can be delivered, and reports what is lost', async () => {
  const sink = new TrialSink();
  const troubles: unknown[] = [];
  sink.before = async () => {
    throw unavailable();
  };
  const log = new LogWriter(() => sink, { closeMs: 50, onTrouble: (error) => troubles.push(error) });
  log.write('lost');
  const startedAt = performance.now();
  await log.close();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(troubles).toMatchObject([
    { message: 'the last 5 bytes of its log are lost', cause: { code: 'store-unavailable' } },
  ]);
});

it('discards everything once its sink refuses, without a report: the attempt has lost its lease', async () => {
  const sink = new TrialSink();
  const troubles: unknown[] = [];
  sink.before = async () => false;
  const log = new LogWriter(() => sink, { onTrouble: (error) => troubles.push(error) });
  log.write('one');
  await sleep(1);
  log.write('two');
  await log.close();
  expect([sink.text, troubles]).toEqual(['', []]);
});

it('reports an error that no retry can resolve once, and stops', async () => {
  const sink = new TrialSink();
  const troubles: unknown[] = [];
  sink.before = async () => {
    throw Object.assign(new Error('no access'), { code: 'EACCES' });
  };
  const log = new LogWriter(() => sink, { onTrouble: (error) => troubles.push(error) });
  log.write('one');
  await log.close();
  expect(troubles).toMatchObject([{ message: 'its log cannot be written', cause: { code: 'EACCES' } }]);
});
