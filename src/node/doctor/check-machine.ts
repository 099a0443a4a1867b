/** A look at the machine: its clock, what it allows a process, and by which means a script's processes can be found and ended. */
import { existsSync, readFileSync } from 'node:fs';
import { openCgroups } from '../../runner/process-tree/cgroups.ts';
import { readProc } from '../../runner/process-tree/process-stat.ts';
import type { Finding } from './finding.ts';
import { fault, fine, note, warning } from './finding.ts';

const LEAST_FILES = 4_096;
const LEAST_PROCESSES = 512;
/** Longhaul is younger than this. */
const OLDEST_TIME = Date.UTC(2024, 0, 1);
const CLOCK_STEP_MS = 60_000;

export interface MachineFacts {
  readonly now: number;
  /** When the store was last written to, by its own word; null when that is not known. */
  readonly storeSeenAt: number | null;
  /** The process whose limits count: the node's where one runs. */
  readonly pid: number | 'self';
}

export function checkMachine({ now, storeSeenAt, pid }: MachineFacts): readonly Finding[] {
  const limits = readProc(`/proc/${pid}/limits`) ?? '';
  return [...checkClock(now, storeSeenAt), ...checkLimits(limits, pid), ...checkKill()];
}

export function checkClock(now: number, storeSeenAt: number | null): readonly Finding[] {
  const about = 'clock';
  const cure = 'set the clock (timedatectl set-ntp true); leases begin anew by themselves once it is right';
  if (now < OLDEST_TIME) return [fault(about, `the clock says ${new Date(now).toISOString()}`, cure)];
  const ahead = (storeSeenAt ?? 0) - now;
  if (ahead <= CLOCK_STEP_MS) return [fine(about, new Date(now).toISOString())];
  const words = `the store was written to at ${new Date(now + ahead).toISOString()}, which is still to come: the clock was set back`;
  return [warning(about, words, cure)];
}

export function checkLimits(limits: string, pid: number | 'self'): readonly Finding[] {
  const who = pid === 'self' ? 'a process here' : `the node (process ${pid})`;
  const files = limitOf(limits, 'open files');
  const processes = limitOf(limits, 'processes');
  const found: Finding[] = [];
  if (files !== null && files < LEAST_FILES)
    found.push(
      warning(
        'limits',
        `${who} may have ${files} files open: not enough for many connections and jobs`,
        `raise it: LimitNOFILE=65536 in the unit, or ulimit -n 65536 before the start`,
      ),
    );
  if (processes !== null && processes < LEAST_PROCESSES)
    found.push(
      warning(
        'limits',
        `${who} may have ${processes} processes: scripts need some each`,
        'raise it: LimitNPROC=4096 and TasksMax=4096 in the unit, or ulimit -u 4096 before the start',
      ),
    );
  return found.length > 0
    ? found
    : [fine('limits', `${files ?? 'any number of'} files, ${processes ?? 'any number of'} processes`)];
}

/** The soft limit, in the words of /proc/PID/limits; null for none. */
function limitOf(limits: string, name: string): number | null {
  const value = new RegExp(`^Max ${name}\\s+(\\S+)`, 'm').exec(limits)?.[1] ?? 'unlimited';
  return value === 'unlimited' ? null : Number(value);
}

function checkKill(): readonly Finding[] {
  const about = 'tree-kill';
  if (!existsSync('/proc/self/stat'))
    return [
      fault(
        about,
        'there is no /proc: the processes of a script cannot be found',
        'mount it: mount -t proc proc /proc',
      ),
    ];
  if (openCgroups() !== null) return [fine(about, 'each script gets a control group (v2) that is killed as a whole')];
  return [
    note(about, `${whyNoCgroups()}; processes are found by session, parents, mark, folder and open files in /proc`),
  ];
}

function whyNoCgroups(): string {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
  if (/ - cgroup2 /.test(mounts))
    return 'control groups (v2) are there, but none can be made here (Delegate=yes in the unit)';
  return / - cgroup /.test(mounts) ? 'there are control groups of version 1 only' : 'there are no control groups';
}
