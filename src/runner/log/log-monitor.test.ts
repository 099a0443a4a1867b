import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf } from '../attempt/attempt-files.ts';
import { readLogIndex } from './log-index.ts';
import { LogMonitor } from './log-monitor.ts';

function aLog() {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = filesOf(folder);
  return { files, write: (text: string) => appendFileSync(files.log, text), index: () => readLogIndex(files.logIndex) };
}

const GB = 1024 ** 3;

describe('a log monitor', () => {
  it('reports new output', () => {
    const { files, write } = aLog();
    const monitor = new LogMonitor(files, GB);
    expect(monitor.poll(0)).toBe(false);
    write('a\n');
    expect([monitor.poll(1), monitor.poll(2)]).toEqual([true, false]);
    expect(monitor.state).toEqual({ size: 2, generation: 0 });
  });

  it('adds an entry after a second or much output, and none otherwise', () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, GB);
    write('a\nb\n');
    monitor.poll(10_000);
    write('c\n');
    monitor.poll(10_500);
    expect(index().entries).toEqual([{ offset: 4, line: 3, at: 10_000 }]);
    monitor.poll(11_100);
    write(`${'x'.repeat(99)}\n`.repeat(700));
    monitor.poll(11_200);
    monitor.poll(20_000);
    expect(index().entries.slice(1)).toEqual([
      { offset: 6, line: 4, at: 11_100 },
      { offset: 70_006, line: 704, at: 11_200 },
    ]);
  });

  it('counts the rest of a log that grew faster than its polls, and ignores a deleted one', async () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, GB);
    const lines = 100_000;
    write(`${'x'.repeat(99)}\n`.repeat(lines));
    monitor.poll(10_000);
    expect(index().entries.at(-1)?.offset).toBeLessThan(lines * 50);
    await monitor.countRest(11_000);
    expect(index().entries.at(-1)).toEqual({ offset: lines * 100, line: lines + 1, at: 11_000 });

    write(`${'x'.repeat(99)}\n`.repeat(lines));
    monitor.poll(12_000);
    rmSync(files.log);
    await monitor.countRest(13_000);
    expect(index().entries.at(-1)?.at).toBe(12_000);
  });

  it('extends an index to the last lines, and creates none for a few', async () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, GB, 10_000);
    write('a\nb\n');
    monitor.poll(10_100);
    await monitor.countRest(10_200);
    expect(index().entries).toEqual([]);
    write(`${'x'.repeat(99)}\n`.repeat(700));
    monitor.poll(10_300);
    write('c\n');
    monitor.poll(10_400);
    await monitor.countRest(10_500);
    expect(index().entries).toEqual([
      { offset: 70_004, line: 703, at: 10_300 },
      { offset: 70_006, line: 704, at: 10_500 },
    ]);
  });

  it('continues the count of an earlier monitor', () => {
    const { files, write, index } = aLog();
    write('a\nb\n');
    new LogMonitor(files, GB).poll(10_000);
    write('c\n');
    new LogMonitor(files, GB).poll(20_000);
    expect(index().entries.at(-1)).toEqual({ offset: 6, line: 4, at: 20_000 });
  });

  it('cuts a log that is too long to its head and a marker, and output continues after it', () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, 4_000);
    write('head line\n'.repeat(500));
    monitor.poll(0);
    const text = readFileSync(files.log, 'utf8');
    expect(text).toMatch(/^(head line\n){100}\[longhaul: 4000 bytes of output were dropped here, .*, cut 1\]\n$/);
    expect(monitor.state).toEqual({ size: text.length, generation: 1 });
    expect(index()).toMatchObject({ generation: 1, head: 1_000, dropped: 4_000 });
    write('after\n');
    monitor.poll(5_000);
    expect(readFileSync(files.log, 'utf8').endsWith('cut 1]\nafter\n')).toBe(true);
    expect(index().entries.at(-1)).toMatchObject({ line: 103 });
  });

  it('keeps the same head when it cuts again, and one marker', () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, 4_000);
    for (let round = 1; round <= 3; round += 1) {
      write('some line\n'.repeat(500));
      monitor.poll(round * 10);
    }
    const text = readFileSync(files.log, 'utf8');
    expect(text.match(/longhaul:/g)).toHaveLength(1);
    expect(text.slice(0, 1_000)).toBe('some line\n'.repeat(100));
    expect(index()).toMatchObject({ generation: 3, head: 1_000 });
    expect(statSync(files.log).size).toBeLessThan(4_000);
  });

  it('cuts a line that is longer than the head', () => {
    const { files, write } = aLog();
    write('x'.repeat(5_000_000));
    new LogMonitor(files, 1_000_000).poll(0);
    expect(readFileSync(files.log, 'utf8')).toMatch(/^x{250000}\[longhaul: 4750000 bytes/);
  });

  it('detects that another process truncated the log', () => {
    const { files, write } = aLog();
    const monitor = new LogMonitor(files, GB);
    write('a\nb\nc\n');
    monitor.poll(10_000);
    writeFileSync(files.log, 'oops\n');
    expect(monitor.poll(20_000)).toBe(true);
    expect(monitor.state).toEqual({ size: 5, generation: 1 });
  });

  it('creates no index for an empty log', () => {
    const { files } = aLog();
    new LogMonitor(files, GB).poll(10_000);
    expect(existsSync(files.logIndex)).toBe(false);
  });

  it('continues to count while the disk is full, and writes the whole index when there is room again', () => {
    const { files, write, index } = aLog();
    const monitor = new LogMonitor(files, GB);
    symlinkSync('/dev/full', files.logIndex);
    write('a\nb\n');
    expect(monitor.poll(10_000)).toBe(true);
    symlinkSync('/dev/full', `${files.logIndex}.new`);
    write('c\n');
    expect(monitor.poll(12_000)).toBe(true);
    monitor.addGap({ from: 9_000, to: 12_500, offset: 4 });
    rmSync(`${files.logIndex}.new`);
    write('d\n');
    monitor.poll(14_000);
    expect(index().entries.map(({ offset }) => offset)).toEqual([4, 6, 8]);
    expect(index().gaps).toEqual([{ from: 9_000, to: 12_500, offset: 4 }]);
  });
});
