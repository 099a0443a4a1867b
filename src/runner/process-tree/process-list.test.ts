/** Listed processes: tested with this very process, and with command lines as /proc has them. */
import { expect, it } from 'vitest';
import type { Member } from './membership.ts';
import { commandOf, listMembers } from './process-list.ts';
import { readStat } from './process-stat.ts';

it('shows the command and the usage of a process', () => {
  const stat = readStat(process.pid);
  if (stat === null) throw new Error('this process is not in /proc');
  const member: Member = { ...stat, means: 'session' };
  const [own] = listMembers([member]);
  expect(own).toMatchObject({ pid: process.pid, parent: process.ppid });
  expect(own?.command).toContain('node');
  expect(own?.rssBytes).toBeGreaterThan(1_000_000);
  expect(own?.cpuSeconds).toBeGreaterThan(0);
});

it('omits a process that is gone', () => {
  const stat = readStat(process.pid);
  if (stat === null) throw new Error('this process is not in /proc');
  expect(listMembers([{ ...stat, pid: 2 ** 30, means: 'session' }])).toEqual([]);
});

it('makes one line of any command', () => {
  expect(commandOf('bash\0-c\0echo a\nb\x1b[31m\0')).toBe('bash -c echo a b [31m');
  expect(commandOf(Buffer.from('größe\0').toString('latin1'))).toBe('größe');
  expect(commandOf('x'.repeat(10_000)).length).toBe(500);
});
