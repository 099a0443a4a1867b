/** Checks the machine: its clock, process limits, and the means to find and stop a script's processes. */
import { existsSync, readFileSync } from 'node:fs';
import { openCgroups } from '../../runner/process-tree/cgroups.ts';
import type { PlatformFacts } from '../../runner/process-tree/platform.ts';
import { platformProblem, thisPlatform } from '../../runner/process-tree/platform.ts';
import { readProc } from '../../runner/process-tree/process-stat.ts';
import type { Finding } from './finding.ts';
import { fault, fine, note, warning } from './finding.ts';

const MIN_FILES = 4_096;
const MIN_PROCESSES = 512;
/** Longhaul did not exist before this time. */
const OLDEST_TIME = Date.UTC(2024, 0, 1);
const CLOCK_STEP_MS = 60_000;

export interface MachineFacts {
  readonly now: number;
  /** When the store was last written, by the store's clock; null if not known. */
  readonly storeSeenAt: number | null;
  /** The process whose limits apply: the node's if one runs. */
  readonly pid: number | 'self';
}

export function checkMachine({ now, storeSeenAt, pid }: MachineFacts): readonly Finding[] {
  const limits = readProc(`/proc/${pid}/limits`) ?? '';
  return [
    ...checkPlatform(thisPlatform()),
    ...checkClock(now, storeSeenAt),
    ...checkLimits(limits, pid),
    ...checkKill(),
  ];
}

/** States which promises hold on this system. */
export function checkPlatform(facts: PlatformFacts): readonly Finding[] {
  const about = 'platform';
  const problem = platformProblem(facts);
  if (problem === null) return [fine(about, 'Linux: scripts, isolated handlers, adoption and tree-kill are supported')];
  const message = `${problem.split(':')[0]}; adoption, tree-kill and isolated processes do not work, other promises are not tested`;
  return [warning(about, message, 'run the node on Linux; see docs/deploying.md, Platforms')];
}

export function checkClock(now: number, storeSeenAt: number | null): readonly Finding[] {
  const about = 'clock';
  const cure = 'set the clock (timedatectl set-ntp true); leases are renewed automatically afterwards';
  if (now < OLDEST_TIME) return [fault(about, `the clock shows ${new Date(now).toISOString()}`, cure)];
  const ahead = (storeSeenAt ?? 0) - now;
  if (ahead <= CLOCK_STEP_MS) return [fine(about, new Date(now).toISOString())];
  const message = `the store was written at ${new Date(now + ahead).toISOString()}, in the future: the clock was set back`;
  return [warning(about, message, cure)];
}

export function checkLimits(limits: string, pid: number | 'self'): readonly Finding[] {
  const who = pid === 'self' ? 'a process here' : `the node (process ${pid})`;
  const files = limitOf(limits, 'open files');
  const processes = limitOf(limits, 'processes');
  const found: Finding[] = [];
  if (files !== null && files < MIN_FILES)
    found.push(
      warning(
        'limits',
        `${who} may have ${files} files open: not enough for many connections and jobs`,
        `raise it: LimitNOFILE=65536 in the unit, or ulimit -n 65536 before the start`,
      ),
    );
  if (processes !== null && processes < MIN_PROCESSES)
    found.push(
      warning(
        'limits',
        `${who} may have ${processes} processes: each script needs several`,
        'raise it: LimitNPROC=4096 and TasksMax=4096 in the unit, or ulimit -u 4096 before the start',
      ),
    );
  return found.length > 0
    ? found
    : [fine('limits', `${files ?? 'any number of'} files, ${processes ?? 'any number of'} processes`)];
}

/** Returns the soft limit under its name in /proc/PID/limits; null for none. */
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
        'mount it (mount -t proc proc /proc), or run scripts on Linux only',
      ),
    ];
  if (openCgroups() !== null) return [fine(about, 'each script gets a control group (v2) that is killed as a whole')];
  return [
    note(about, `${whyNoCgroups()}; processes are found by session, parents, marker, folder and open files in /proc`),
  ];
}

function whyNoCgroups(): string {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
  if (/ - cgroup2 /.test(mounts))
    return 'control groups (v2) exist, but none can be created here (set Delegate=yes in the unit)';
  return / - cgroup /.test(mounts) ? 'only control groups of version 1 exist' : 'there are no control groups';
}
