import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf } from '../attempt/attempt-files.ts';
import { LogMonitor } from './log-monitor.ts';
import { MAX_PIECE_BYTES, readLog, readLogLines } from './read-log.ts';

function aLog(text: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-read-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (text !== null) writeFileSync(filesOf(folder).log, text);
  return folder;
}

const aLineOf = (number: number) => `line ${number} ${'.'.repeat(number % 90)}`;
const manyLines = Array.from({ length: 20_000 }, (_, index) => `${aLineOf(index + 1)}\n`).join('');

describe('reading a log by bytes', () => {
  it('returns the range, and the size of the log', async () => {
    const folder = aLog('0123456789');
    const piece = await readLog(folder, { from: 3, maxBytes: 4 });
    expect(piece).toMatchObject({ from: 3, to: 7, size: 10, generation: 0 });
    expect(piece.bytes.toString()).toBe('3456');
    expect((await readLog(folder, { from: 8 })).bytes.toString()).toBe('89');
  });

  it('is empty beyond the end, and without a log', async () => {
    expect(await readLog(aLog('abc'), { from: 99 })).toMatchObject({ from: 3, to: 3, size: 3 });
    expect(await readLog(aLog(null), { from: 0 })).toMatchObject({ from: 0, to: 0, size: 0 });
    expect((await readLog(aLog('abc'), { from: -5, maxBytes: 1 })).bytes.toString()).toBe('a');
  });

  it('never returns more than the limit', async () => {
    const piece = await readLog(aLog('x'.repeat(2 * MAX_PIECE_BYTES)), { from: 0, maxBytes: 1e9 });
    expect(piece.bytes).toHaveLength(MAX_PIECE_BYTES);
  });

  it('masks a secret in ranges of any size', async () => {
    const text = 'key=hunter2 and hunter2\nhunter2';
    const folder = aLog(text);
    for (let size = 1; size <= text.length; size += 1) {
      let shown = '';
      for (let from = 0; from < text.length; from += size) {
        shown += (await readLog(folder, { from, maxBytes: size }, { secrets: ['hunter2'] })).bytes.toString();
      }
      expect(shown).toBe('key=******* and *******\n*******');
    }
  });

  it('holds back the beginning of a secret that is still being written', async () => {
    const folder = aLog('key=hunt');
    const live = await readLog(folder, { from: 0 }, { secrets: ['hunter2'], isRunning: true });
    expect(live).toMatchObject({ to: 4, size: 8 });
    expect(live.bytes.toString()).toBe('key=');
    const over = await readLog(folder, { from: 0 }, { secrets: ['hunter2'] });
    expect(over.bytes.toString()).toBe('key=hunt');
  });
});

describe('reading a log by lines', () => {
  it('returns complete lines, with and without an index', async () => {
    const folder = aLog(manyLines);
    const expectLines = async (from: number, count: number) => {
      const piece = await readLogLines(folder, { from, count });
      const expected = Array.from({ length: count }, (_, index) => `${aLineOf(from + index)}\n`).join('');
      expect(piece.bytes.toString()).toBe(expected);
      expect(piece.line).toBe(from);
    };
    await expectLines(1, 3);
    await expectLines(15_000, 10);
    const monitor = new LogMonitor(filesOf(folder), 1e9);
    for (let now = 0; now < 50_000; now += 2_000) monitor.poll(now);
    await expectLines(1, 3);
    await expectLines(12_345, 10);
    await expectLines(19_999, 2);
  });

  it('ends where the log ends', async () => {
    const folder = aLog('a\nb\nc');
    expect((await readLogLines(folder, { from: 2, count: 9 })).bytes.toString()).toBe('b\nc');
    expect((await readLogLines(folder, { from: 9, count: 9 })).bytes.toString()).toBe('');
    expect((await readLogLines(folder, { from: 1, count: 0 })).bytes.toString()).toBe('');
  });

  it('never returns more than the limit, even of one line', async () => {
    const piece = await readLogLines(aLog('x'.repeat(2 * MAX_PIECE_BYTES)), { from: 1, count: 5 });
    expect(piece.bytes).toHaveLength(MAX_PIECE_BYTES);
  });
});
