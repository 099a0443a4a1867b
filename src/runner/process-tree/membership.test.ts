import { describe, expect, it } from 'vitest';
import { membersOf, membersOfEach, shimSession, type TrackedAttempt } from './membership.ts';
import type { ProcessStat } from './process-stat.ts';

const aProcess = (pid: number, more: Partial<ProcessStat> = {}): ProcessStat => ({
  pid,
  start: 1_000 + pid,
  state: 'S',
  parent: 1,
  group: pid,
  session: pid,
  terminal: 0,
  cpuTicks: 0,
  rssPages: 0,
  ...more,
});

const anAttempt = (more: Partial<TrackedAttempt> = {}): TrackedAttempt => ({
  folder: '/nowhere',
  realFolder: '/nowhere',
  record: { boot: 'b', shim: { pid: 10, start: 1_010 }, script: { pid: 12, start: 1_012 } },
  known: new Map(),
  excludedPids: new Set([99]),
  cgroup: null,
  exit: null,
  isForeignSession: () => false,
  ...more,
});

const shim = aProcess(10);
const cat = aProcess(11, { parent: 10, session: 10 });
const script = aProcess(12, { parent: 10 });

const found = (all: ProcessStat[], attempt = anAttempt()) =>
  Object.fromEntries(membersOf(all, attempt).map(({ pid, means }) => [pid, means]));

describe('the processes of an attempt', () => {
  it('exclude the session of another attempt, whatever other trace exists', () => {
    const attempt = anAttempt({ isForeignSession: (session) => session === 30, known: new Map([[31, 1_031]]) });
    const all = [shim, script, aProcess(31, { parent: 12, session: 30 }), aProcess(32, { parent: 12, session: 32 })];
    expect(found(all, attempt)).toEqual({ 12: 'session', 32: 'descent' });
  });

  it('are the script, its session and its descendants, but not the shim and its cat', () => {
    const all = [
      shim,
      cat,
      script,
      aProcess(20, { session: 12 }),
      aProcess(30, { parent: 20 }),
      aProcess(31, { parent: 30 }),
      aProcess(40),
    ];
    expect(found(all)).toEqual({ 12: 'session', 20: 'session', 30: 'descent', 31: 'descent' });
  });

  it('include the script while it is still in the session of the shim', () => {
    expect(found([shim, cat, { ...script, session: 10, group: 10 }])).toEqual({ 12: 'session' });
  });

  it('include known processes with the same start time', () => {
    const attempt = anAttempt({ known: new Map([[50, 1_050]]) });
    expect(found([aProcess(50)], attempt)).toEqual({ 50: 'known' });
    expect(found([aProcess(50, { start: 9_999 })], attempt)).toEqual({});
  });

  it('are remembered between searches', () => {
    const attempt = anAttempt();
    found([script, aProcess(60, { parent: 12 })], attempt);
    expect(found([aProcess(60)], attempt)).toEqual({ 60: 'known' });
  });

  it('exclude a session whose pid was reassigned', () => {
    expect(found([aProcess(12, { start: 5_000 }), aProcess(13, { session: 12 })])).toEqual({});
  });

  it('exclude processes older than the shim, and Longhaul itself', () => {
    expect(found([aProcess(20, { session: 12, start: 5 }), aProcess(99, { session: 12 })])).toEqual({});
  });

  it('are assigned to many attempts in one search', () => {
    const one = anAttempt();
    const other = anAttempt({
      record: { boot: 'b', shim: { pid: 70, start: 1_070 }, script: { pid: 72, start: 1_072 } },
    });
    const all = [shim, script, aProcess(72), aProcess(80, { parent: 72 }), aProcess(81, { session: 12 })];
    const members = membersOfEach(all, [one, other]);
    expect([one, other].map((each) => members.get(each)?.map(({ pid }) => pid))).toEqual([
      [12, 81],
      [72, 80],
    ]);
  });
});

describe('the session of a shim', () => {
  it('is the shim and its helpers, unless its pid was reassigned', () => {
    const { record } = anAttempt();
    expect(shimSession([shim, cat, script], record).map(({ pid }) => pid)).toEqual([10, 11]);
    expect(shimSession([cat], record).map(({ pid }) => pid)).toEqual([11]);
    expect(shimSession([aProcess(10, { start: 5_000 }), cat], record)).toEqual([]);
  });
});
