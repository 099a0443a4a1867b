import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf, parseExit, parsePid, readExit, readPid, signalOf } from './attempt-files.ts';

describe('the file pid', () => {
  it('names the shim, then the script', () => {
    expect(parsePid('10 500 boot-1/4026\n11 501 77\n')).toEqual({
      boot: 'boot-1/4026',
      shim: { pid: 10, start: 500 },
      script: { pid: 11, start: 501 },
      reportPipe: 'pipe:[77]',
    });
    expect(parsePid('10 500 boot-1/4026 group\n11 501 \n')).toEqual({
      boot: 'boot-1/4026',
      shim: { pid: 10, start: 500 },
      script: { pid: 11, start: 501 },
      group: 'group',
    });
    expect(parsePid('10 500 boot-1/4026\n')?.script).toBeNull();
  });

  it.each(['', '10', '10 500', '10 500 boot', 'withdrawn\n', 'x y z\n', '\0\0\0\n'])(
    'is incomplete while it contains %j',
    (text) => {
      expect(parsePid(text)).toBeNull();
    },
  );

  it('ignores an incomplete second line', () => {
    expect(parsePid('10 500 boot\n11 5')?.script).toBeNull();
    expect(parsePid('10 500 boot\n 501 77\n')?.script).toBeNull();
  });
});

describe('the file exit', () => {
  const room = ' '.repeat(40);
  const times = '0m0.010000s 0m0.020000s\n1m2.500000s 0m0.250000s\n';

  it('contains the status, the CPU time, and whether the reports are complete', () => {
    expect(parseExit(`${times}3 0\n`)).toEqual({
      status: 3,
      signal: null,
      areReportsComplete: true,
      cpuSeconds: 62.75,
    });
    expect(parseExit(`${times}0 137\n`)).toMatchObject({ status: 0, areReportsComplete: true });
    expect(parseExit(`${times}0 1\n`)).toMatchObject({ areReportsComplete: false });
  });

  it('names the signal', () => {
    expect(parseExit(`${times}137 0\n`)).toMatchObject({ status: 137, signal: 'SIGKILL' });
    expect(parseExit(`${times}143 0\n`)?.signal).toBe('SIGTERM');
    expect(signalOf(128)).toBeNull();
    expect(signalOf(255)).toBeNull();
  });

  it('may be followed by the rest of the reserved room', () => {
    expect(parseExit(`${times}3 0\n${room}`)?.status).toBe(3);
  });

  it.each(['', times, `${times}0`, `${times}0 0`, '0 0\n', room, `${times}${room}`, `${times}0${room}`])(
    'is incomplete as %j',
    (text) => {
      expect(parseExit(text)).toBeNull();
    },
  );
});

describe('an attempt directory', () => {
  it('may contain neither file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect([readPid(folder), readExit(folder)]).toEqual([null, null]);
    writeFileSync(filesOf(folder).pid, '1 2 b\n');
    expect(readPid(folder)).toEqual({ boot: 'b', shim: { pid: 1, start: 2 }, script: null });
  });
});
