import { describe, expect, it } from 'vitest';
import { fileSystemOf } from './check-home.ts';
import { checkClock, checkLimits, checkPlatform } from './check-machine.ts';

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /home rw - ext4 /dev/sdb1 rw
31 30 0:26 / /home/my\\040files rw shared:2 - nfs4 server:/export rw
32 22 0:27 / /srv rw - ext4 /dev/sdc1 rw
33 32 0:28 / /srv rw - tmpfs tmpfs rw`;

describe('the file system of a directory', () => {
  it.each([
    ['/var/lib/longhaul', 'ext4'],
    ['/home/my files/longhaul', 'nfs4'],
    ['/home/my files2/longhaul', 'ext4'],
    ['/homework/longhaul', 'ext4'],
    ['/srv/longhaul', 'tmpfs'],
  ])('of %s is %s', (path, type) => {
    expect(fileSystemOf(path, MOUNTS)).toBe(type);
  });

  it('is unknown without a mount point', () => {
    expect(fileSystemOf('/x', '')).toBe('unknown');
  });
});

describe('the check of limits', () => {
  const limits = (files: string, processes: string): string =>
    `Limit  Soft Limit  Hard Limit  Resources\nMax processes  ${processes}  unlimited  processes\nMax open files  ${files}  65536  files\n`;

  it('accepts high limits and no limit', () => {
    for (const text of [limits('65536', 'unlimited'), limits('4096', '512'), ''])
      expect(checkLimits(text, 'self')).toMatchObject([{ level: 'ok' }]);
  });

  it('reports each low limit, its process, and how to raise it', () => {
    expect(checkLimits(limits('1024', '100'), 77)).toMatchObject([
      { level: 'warning', message: expect.stringContaining('the node (process 77) may have 1024 files') as string },
      { level: 'warning', cure: expect.stringContaining('LimitNPROC') as string },
    ]);
  });
});

describe('the check of the clock', () => {
  const now = Date.UTC(2026, 5, 1);

  it('accepts a store that was written in the past, or slightly ahead', () => {
    for (const seenAt of [null, now - 1, now + 59_000])
      expect(checkClock(now, seenAt)).toMatchObject([{ level: 'ok' }]);
  });

  it('reports a clock that was set back, and one that was never set', () => {
    expect(checkClock(now, now + 61_000)).toMatchObject([{ level: 'warning' }]);
    expect(checkClock(0, null)).toMatchObject([{ level: 'error' }]);
  });
});

it('states that scripts are refused on another system than Linux', () => {
  expect(checkPlatform({ system: 'linux', hasProc: true })).toMatchObject([{ about: 'platform', level: 'ok' }]);
  expect(checkPlatform({ system: 'darwin', hasProc: false })).toMatchObject([
    { level: 'warning', message: expect.stringContaining('this is darwin') },
  ]);
});
