import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bootIdentity, isAlive, isLiving, parseStat, readStat, readUnits } from './process-stat.ts';

const rest = (state: string) =>
  `${state} 7 8 9 1025 -1 4194304 1 2 3 4 50 6 70 8 20 0 1 0 31415 1000 250 18446744073709551615`;

describe('a line of /proc/PID/stat', () => {
  it('is parsed after the name, which may contain anything', () => {
    expect(parseStat(`12 (a) b (c) ${rest('S')}`)).toEqual({
      pid: 12,
      state: 'S',
      parent: 7,
      group: 8,
      session: 9,
      terminal: 1025,
      cpuTicks: 134,
      start: 31415,
      rssPages: 250,
    });
  });

  it('is null when it is malformed', () => {
    expect(parseStat('')).toBeNull();
  });

  it('distinguishes zombies from living processes', () => {
    expect(['R', 'S', 'D', 'T', 'Z', 'X'].filter((state) => isLiving(parseStat(`1 (x) ${rest(state)}`)!))).toEqual([
      'R',
      'S',
      'D',
      'T',
    ]);
  });
});

describe('a process', () => {
  it('is alive only under its own start time', () => {
    const self = readStat(process.pid)!;
    expect(self.pid).toBe(process.pid);
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ pid: self.pid, start: self.start + 1 })).toBe(false);
  });

  it('is not alive as a zombie, although a signal still finds it', async () => {
    // A shell that execs sleep does not know the child it must reap.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    const until = performance.now() + 5_000;
    while (readStat(pid)?.state !== 'Z' && performance.now() < until) await new Promise(setImmediate);
    const zombie = readStat(pid)!;
    expect(zombie.state).toBe('Z');
    expect(process.kill(pid, 0)).toBe(true);
    expect(isAlive(zombie)).toBe(false);
    parent.kill('SIGKILL');
    await once(parent, 'close');
  });

  it('is null when it is gone', () => {
    expect(readStat(4_194_304)).toBeNull();
  });
});

it('a boot is identified by its id and pid namespace', () => {
  expect(bootIdentity()).toMatch(/^[0-9a-f-]{36}\/\d+$/);
});

it('the kernel reports its units', () => {
  expect(readUnits().ticksPerSecond).toBe(100);
  expect(readUnits().pageBytes % 4096).toBe(0);
});
