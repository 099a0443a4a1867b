/**
 * The logs of handlers in a store: appended under the token, once each, cut to head and tail, deleted with their jobs.
 * SQLite keeps them as files of its data directory: those have no limit, and a node applies their retention.
 */
import { expect, it } from 'vitest';
import type { LogAppend, LogPage } from '../../src/core/ports/log-store.ts';
import type { Open } from './contract.ts';
import { complete, outcomeOf, release, type Workbench } from './workbench.ts';

/** Why a part of the contract does not apply to SQLite. */
export const LOGS_ARE_FILES = { 'logs kept in the store': 'files of the data directory have no limit' };

type Holder = Awaited<ReturnType<Workbench['running']>>;

const append = (bench: Workbench, { id, lease }: Holder, offset: number, text: string, more: Partial<LogAppend> = {}) =>
  bench.store.logs.append({ id, token: lease.token, offset, text, ...more }, { now: bench.now });
const page = (bench: Workbench, id: string, attempt = 1, from = 0) =>
  bench.store.logs.read({ id, attempt, from }, { now: bench.now });

async function whole(bench: Workbench, id: string, attempt = 1): Promise<string> {
  let text = '';
  for (let found: LogPage | null = await page(bench, id, attempt); found !== null && found.text !== ''; ) {
    text += found.text;
    found = await page(bench, id, attempt, found.to);
  }
  return text;
}

async function heldLogs(bench: Workbench, queue = 'q') {
  return (await bench.jobs.insight({ kind: 'storage', queue }))[0]?.logs;
}

/** Lines of 100 bytes, numbered from a number on. */
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `${String(from + at).padEnd(99, '.')}\n`).join('');

export function logContract(open: Open): void {
  it('appends output in order, counts bytes of UTF-8, and reads it from any offset', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    expect(await page(bench, 'a')).toBeNull();
    expect(await append(bench, job, 0, 'grün\n')).toEqual({ ok: true, end: 6 });
    expect(await append(bench, job, 6, '😀\n')).toEqual({ ok: true, end: 11 });
    expect(await page(bench, 'a')).toMatchObject({ text: 'grün\n😀\n', from: 0, to: 11, size: 11, generation: 0 });
    expect(await page(bench, 'a', 1, 6)).toMatchObject({ text: '😀\n', from: 6, to: 11 });
    expect(await page(bench, 'a', 1, 99)).toMatchObject({ text: '', from: 11, to: 11, size: 11 });
    expect(await page(bench, 'a', 2)).toBeNull();
    expect(await page(bench, 'none')).toBeNull();
  });

  it('adds nothing twice: a repeat after a lost reply, whole or in part', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await append(bench, job, 0, 'one\ntwo\n');
    expect(await append(bench, job, 0, 'one\ntwo\n')).toEqual({ ok: true, end: 8 });
    expect(await append(bench, job, 4, 'two\nthree\n')).toEqual({ ok: true, end: 14 });
    expect(await whole(bench, 'a')).toBe('one\ntwo\nthree\n');
  });

  it('refuses output under a stale token, and of a job that does not exist', async () => {
    const bench = await open();
    const first = await bench.running({ id: 'a' });
    await append(bench, first, 0, 'first\n');
    await bench.settle(first, release);
    expect(outcomeOf(await append(bench, first, 6, 'late\n'))).toBe('lease-lost');
    const [second] = await bench.claim();
    expect(outcomeOf(await append(bench, first, 6, 'late\n'))).toBe('lease-lost');
    await append(bench, second as Holder, 0, 'second\n');
    expect([await whole(bench, 'a', 1), await whole(bench, 'a', 2)]).toEqual(['first\n', 'second\n']);
    expect(outcomeOf(await append(bench, { ...first, id: 'none' }, 0, 'x'))).toBe('not-found');
  });

  it('marks output that never arrived, and keeps the periods of lost output', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await append(bench, job, 0, 'one\n');
    expect(await append(bench, job, 104, 'two\n', { gap: { from: 5, to: 7 } })).toEqual({ ok: true, end: 108 });
    expect(await whole(bench, 'a')).toMatch(/^one\n\[longhaul: 100 bytes[^\n]* are missing here\] *\ntwo\n$/);
    expect((await page(bench, 'a'))?.gaps).toMatchObject([{ from: 5, to: 7 }]);
  });
}

/** For stores that keep logs themselves: all except SQLite. */
export function storedLogContract(open: Open): void {
  it('keeps the beginning and the end of a long log, with a mark that counts what is missing', async () => {
    const bench = await open();
    await bench.setQueue('q', { storedLogs: { attempt: 10_000, queue: 1_000_000 } });
    const job = await bench.running({ id: 'a' });
    await append(bench, job, 0, lines(0, 100));
    expect(await page(bench, 'a')).toMatchObject({ generation: 0, size: 10_000, dropped: 0 });
    for (let at = 100; at < 1_000; at += 10) await append(bench, job, 100 * at, lines(at, 10));
    const found = await page(bench, 'a');
    const text = await whole(bench, 'a');
    const [, missing = '', count = ''] =
      /\n\[longhaul: (\d+) bytes and (\d+) lines of output are missing here\]\n/.exec(text) ?? [];
    expect(text.startsWith(lines(0, 25))).toBe(true);
    expect(text.endsWith(lines(990, 10))).toBe(true);
    expect(text.length).toBeLessThanOrEqual(10_000);
    const kept = text.split('\n').filter((line) => /^\d+\.+$/.test(line)).length;
    expect([Number(missing), Number(count)]).toEqual([100 * (1_000 - kept), 1_000 - kept]);
    expect(found).toMatchObject({ head: 2_500, dropped: Number(missing), size: text.length });
    expect(found?.generation).toBeGreaterThan(1);
    expect(await heldLogs(bench)).toEqual({ count: 1, bytes: text.length });
  });

  it('cuts between characters where a log has no lines', async () => {
    const bench = await open();
    await bench.setQueue('q', { storedLogs: { attempt: 5_000, queue: 1_000_000 } });
    const job = await bench.running({ id: 'a' });
    await append(bench, job, 0, '€'.repeat(3_000));
    const text = await whole(bench, 'a');
    expect(text).toMatch(/^€+\n\[longhaul: \d+ bytes and 0 lines of output are missing here\]\n€+$/);
    const [, missing = ''] = /: (\d+) bytes/.exec(text) ?? [];
    expect(Number(missing)).toBe(9_000 - 3 * (text.match(/€/g)?.length ?? 0));
  });

  it('deletes the logs that were written least recently beyond the bytes of a queue', async () => {
    const bench = await open();
    await bench.setQueue('q', { storedLogs: { attempt: 10_000, queue: 10_000 } });
    const [a, b, c] = [
      await bench.running({ id: 'a' }),
      await bench.running({ id: 'b' }),
      await bench.running({ id: 'c' }),
    ];
    for (const job of [a, b]) {
      await append(bench, job, 0, lines(0, 40));
      bench.pass(10);
    }
    await append(bench, a, 4_000, lines(40, 1));
    bench.pass(10);
    await append(bench, c, 0, lines(0, 40));
    expect([(await page(bench, 'a'))?.size, await page(bench, 'b'), (await page(bench, 'c'))?.size]).toEqual([
      4_100,
      null,
      4_000,
    ]);
    expect(await heldLogs(bench)).toEqual({ count: 2, bytes: 8_100 });
    bench.pass(10);
    expect(await append(bench, b, 4_000, lines(40, 1))).toEqual({ ok: true, end: 4_100 });
    expect(await whole(bench, 'b')).toMatch(
      /^\[longhaul: 4000 bytes and 0 lines of output are missing here\]\n40\.+\n$/,
    );
  });

  it('deletes logs with their jobs, and earlier by the retention of logs', async () => {
    const bench = await open();
    const settle = async (id: string, text: string): Promise<void> => {
      const job = await bench.running({ id });
      await append(bench, job, 0, text);
      await bench.settle(job, complete);
    };
    await settle('a', 'aa\n');
    await settle('b', 'bbb\n');
    expect(await heldLogs(bench)).toEqual({ count: 2, bytes: 7 });
    await bench.jobs.delete(['a']);
    expect([await page(bench, 'a'), await heldLogs(bench)]).toEqual([null, { count: 1, bytes: 4 }]);
    await bench.setQueue('q', { retention: { logs: { ms: 3_600_000, count: null, bytes: null } } as never });
    bench.pass(1_800_000);
    await settle('c', 'c\n');
    await bench.add({ id: 'runs' });
    const running = await bench.claimOne({ leaseMs: 100_000_000 });
    await append(bench, running, 0, 'runs\n');
    bench.pass(1_900_000);
    await bench.jobs.maintain({ limit: 100 });
    expect([await page(bench, 'b'), (await page(bench, 'c'))?.text]).toEqual([null, 'c\n']);
    bench.pass(3_600_000);
    await bench.jobs.maintain({ limit: 100 });
    expect([await page(bench, 'c'), (await page(bench, 'runs'))?.text]).toEqual([null, 'runs\n']);
    expect((await bench.jobs.find(['c']))[0]?.state).toBe('done');
    bench.pass(8 * 86_400_000);
    await bench.jobs.maintain({ limit: 100 });
    expect(await bench.jobs.find(['b'])).toEqual([null]);
  });
}
