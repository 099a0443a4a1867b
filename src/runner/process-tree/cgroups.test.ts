import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { delegatedUnit, groupMemoryLimit, groupOverMemory, limitMemory } from './cgroups.ts';

/** A directory with the files of a control group: a kernel with cgroup v2 memory is not present everywhere. */
function aGroup(files: Readonly<Record<string, string>>): string {
  const group = mkdtempSync(join(tmpdir(), 'longhaul-group-'));
  onTestFinished(() => rmSync(group, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(group, name), text);
  return group;
}

describe('the memory limit of a control group', () => {
  it('is set together with swap, and kills the group as a whole', () => {
    const group = aGroup({ 'memory.max': 'max\n', 'memory.swap.max': 'max\n', 'memory.oom.group': '0\n' });
    expect(groupMemoryLimit(group)).toBeNull();
    limitMemory(group, 60_000_000);
    const written = ['memory.max', 'memory.swap.max', 'memory.oom.group'].map((name) =>
      Number.parseInt(readFileSync(join(group, name), 'latin1'), 10),
    );
    expect(written).toEqual([60_000_000, 0, 1]);
    expect(groupMemoryLimit(group)).toBe(60_000_000);
  });

  it('is not set where the group has no memory controller', () => {
    const group = aGroup({});
    limitMemory(group, 60_000_000);
    expect(groupMemoryLimit(group)).toBeNull();
    expect(groupMemoryLimit(null)).toBeNull();
  });

  it('was exceeded if the kernel killed a process because of it', () => {
    const files = { 'memory.max': '600\n', 'memory.peak': '601\n' };
    const events = (kills: number) => `low 0\nhigh 0\nmax 9\noom 1\noom_kill ${kills}\noom_group_kill 0\n`;
    expect(groupOverMemory(aGroup({ ...files, 'memory.events': events(2) }))).toEqual({
      usedBytes: 601,
      limitBytes: 600,
    });
    expect(groupOverMemory(aGroup({ ...files, 'memory.events': events(0) }))).toBeNull();
    expect(groupOverMemory(aGroup({ 'memory.max': 'max\n', 'memory.events': events(1) }))).toBeNull();
    expect(groupOverMemory(null)).toBeNull();
  });
});

describe('the unit that systemd delegated', () => {
  it.each([
    ['/sys/fs/cgroup/system.slice/longhaul.service/node', '/sys/fs/cgroup/system.slice/longhaul.service'],
    ['/sys/fs/cgroup/system.slice/longhaul.service', null],
    ['/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/app.slice/longhaul.service', null],
    ['/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/app.slice/x', null],
    ['/sys/fs/cgroup', null],
    ['/', null],
  ])('contains the group %s: %s', (own, unit) => {
    expect(delegatedUnit(own)).toBe(unit);
  });
});
