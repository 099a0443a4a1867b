import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf } from '../attempt/attempt-files.ts';
import { gapMarker, LogGaps } from './log-gaps.ts';
import { LogMonitor } from './log-monitor.ts';

function aLog() {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-gaps-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = filesOf(folder);
  const monitor = new LogMonitor(files, 1024 ** 3);
  const write = (text: string): void => {
    appendFileSync(files.log, text);
    monitor.poll(0);
  };
  return {
    files,
    monitor,
    write,
    read: () => readFileSync(files.log, 'utf8'),
    gaps: new LogGaps(folder, monitor),
    folder,
  };
}

describe('gaps in a log', () => {
  it('get a marker at their offset, from the last time with room to the next', () => {
    const { files, folder, write, read, gaps } = aLog();
    write('a\n');
    gaps.diskIsFull(1_000, 1_050);
    gaps.diskIsFull(1_050, 1_100);
    expect(gaps.all).toEqual([{ from: 1_000, to: 1_100, offset: 2 }]);
    gaps.diskHasRoom(1_150);
    gaps.diskHasRoom(1_200);
    write('b\n');
    const gap = { from: 1_000, to: 1_150, offset: 2 };
    expect(read()).toBe(`a\n${gapMarker(gap)}b\n`);
    expect(gapMarker(gap)).toBe(
      '[longhaul: the disk was full between 1970-01-01T00:00:01.000Z and 1970-01-01T00:00:01.150Z: output of that time may be missing here]\n',
    );
    expect(gaps.all).toEqual([gap]);
    // The next node that supervises the attempt finds them too.
    expect(new LogGaps(folder, new LogMonitor(files, 1024 ** 3)).all).toEqual([gap]);
  });

  it('get a marker on a line of its own after an incomplete line', () => {
    const { write, read, gaps } = aLog();
    write('a\nhalf');
    gaps.diskIsFull(1, 2);
    gaps.diskHasRoom(3);
    expect(read()).toMatch(/^a\nhalf\n\[longhaul: [^\n]*\]\n$/);
  });

  it('stay open while there is no room for the marker', () => {
    const { files, monitor, gaps } = aLog();
    symlinkSync('/dev/full', files.log);
    gaps.diskIsFull(1, 2);
    gaps.diskHasRoom(3);
    expect(() => gaps.mark(4)).toThrow('ENOSPC');
    expect(monitor.gaps).toEqual([]);
    expect(gaps.all).toHaveLength(1);
  });

  it('throw once when the log cannot be written for another reason', () => {
    const { files, gaps } = aLog();
    mkdirSync(files.log);
    gaps.diskIsFull(1, 2);
    expect(() => gaps.diskHasRoom(3)).toThrow('EISDIR');
    gaps.diskHasRoom(4);
  });

  it('are merged beyond the maximum number', () => {
    const { write, read, gaps } = aLog();
    write('a\n');
    for (let at = 0; at < 300; at += 2) {
      gaps.diskIsFull(at, at);
      gaps.diskHasRoom(at + 1);
    }
    expect(gaps.all).toHaveLength(100);
    expect(gaps.all.at(-1)).toMatchObject({ from: 198, to: 299 });
    expect(read().split('\n')).toHaveLength(102);
  });
});
