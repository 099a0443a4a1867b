/**
 * Decides which processes belong to an attempt, and by which means that is known.
 *
 *   cgroup    it is in the control group of the attempt
 *   session   it is in the session that the script leads
 *   known     it belonged at the last search
 *   descent   its parent belongs
 *   mark      its environment contains the mark of the attempt
 *   folder    it works in the attempt directory, writes a file there or holds fd 3, and has no terminal
 *
 * Invariant: the shim and the processes of its session never belong; nor does a process older than the shim, nor
 * Longhaul itself. A pid that was reassigned to another process does not belong.
 */
import type { Exit, PidRecord, ProcessKey } from '../attempt/attempt-files.ts';
import { processesIn } from './cgroups.ts';
import { type ProcessStat, readStat } from './process-stat.ts';
import type { Survey, Traces } from './process-survey.ts';
import { isInside } from './process-traces.ts';

export type Means = 'cgroup' | 'session' | 'known' | 'descent' | 'mark' | 'folder';

export interface TrackedAttempt {
  readonly folder: string;
  /** The attempt directory without symbolic links, as /proc shows paths. */
  readonly realFolder: string;
  /** Replaced once, when the script's line has been written. */
  record: PidRecord;
  /** Start times by pid of the processes found at the last search. */
  readonly known: Map<number, number>;
  /** Pids of Longhaul itself, which has the files of the attempt open. */
  readonly excludedPids: ReadonlySet<number>;
  /** Null once the group is empty and removed. */
  readonly cgroup: string | null;
  /** The exit status; null until the shim has written it. */
  readonly exit: Exit | null;
  /** Reports whether a session belongs to another attempt or its shim. A process cannot enter a foreign session. */
  isForeignSession(session: number): boolean;
}

export interface Member extends ProcessStat {
  readonly means: Means;
}

/** Finds the members of several attempts at once, from the process listing alone. */
export function membersOfEach<T extends TrackedAttempt>(
  all: readonly ProcessStat[],
  attempts: readonly T[],
): Map<T, Member[]> {
  const owners = new Map<number, T>();
  const members = new Map<T, Member[]>(attempts.map((each) => [each, []]));
  const join = (owner: T, each: ProcessStat, means: Means) => {
    owners.set(each.pid, owner);
    members.get(owner)?.push({ ...each, means });
  };
  const starts = new Map(all.map(({ pid, start }) => [pid, start]));
  const sessions = new Map(
    attempts.filter((each) => holdsSession(each, starts)).map((each) => [sessionOf(each), each]),
  );
  const known = new Map(attempts.flatMap((owner) => [...owner.known.keys()].map((pid) => [pid, owner])));
  for (const each of all) {
    const bySession = sessions.get(each.session) ?? sessions.get(each.pid);
    const byKnown = known.get(each.pid);
    if (bySession && canBelong(each, bySession)) join(bySession, each, 'session');
    else if (byKnown?.known.get(each.pid) === each.start && canBelong(each, byKnown)) join(byKnown, each, 'known');
  }
  addDescendants(all, owners, join);
  for (const [owner, found] of members) remember(owner, found);
  return members;
}

export function membersOf(all: readonly ProcessStat[], attempt: TrackedAttempt): Member[] {
  return membersOfEach(all, [attempt]).get(attempt) ?? [];
}

/** Finds members also by traces that must be read from each process. */
export function allMembersOf(survey: Survey, attempt: TrackedAttempt): Member[] {
  const { all } = survey;
  const found = membersOf(all, attempt);
  const grouped = new Set(attempt.cgroup === null ? [] : processesIn(attempt.cgroup));
  const owners = new Map(found.map(({ pid }) => [pid, attempt]));
  const join = (_owner: TrackedAttempt, each: ProcessStat, means: Means) => {
    owners.set(each.pid, attempt);
    found.push({ ...each, means });
  };
  for (const each of all) {
    if (owners.has(each.pid) || !canBelong(each, attempt)) continue;
    const means = grouped.has(each.pid) ? 'cgroup' : tracedBy(each, survey, attempt);
    if (means !== null) join(attempt, each, means);
  }
  addDescendants(all, owners, join);
  remember(attempt, found);
  return found;
}

/**
 * Returns by which means a single process belongs, for one that was created after the listing; null when it does not.
 */
export function membershipOf(each: ProcessStat, attempt: TrackedAttempt, traces: Traces): Means | null {
  if (!canBelong(each, attempt)) return null;
  if (each.session === sessionOf(attempt) && isSessionHeld(attempt)) return 'session';
  if (attempt.known.has(each.parent)) return 'descent';
  if (attempt.cgroup !== null && processesIn(attempt.cgroup).includes(each.pid)) return 'cgroup';
  return tracedBy(each, traces, attempt);
}

function isSessionHeld(attempt: TrackedAttempt): boolean {
  const leader = readStat(sessionOf(attempt));
  return holdsSession(attempt, new Map(leader === null ? [] : [[leader.pid, leader.start]]));
}

const sessionOf = ({ record }: TrackedAttempt): number => record.script?.pid ?? -1;

/**
 * Reports whether the session is still that of the script: the kernel does not reassign a pid while a session uses it.
 */
function holdsSession({ record: { script } }: TrackedAttempt, starts: ReadonlyMap<number, number>): boolean {
  if (script === null) return false;
  const start = starts.get(script.pid);
  return start === undefined || start === script.start;
}

function tracedBy({ pid, terminal }: ProcessStat, traces: Traces, attempt: TrackedAttempt): Means | null {
  const mark = traces.markOf(pid);
  // The mark of another attempt is decisive, whatever files the process has open.
  if (mark !== null) return mark === attempt.folder ? 'mark' : null;
  // A person who inspects the directory does so from a terminal.
  if (terminal !== 0) return null;
  const { realFolder, record } = attempt;
  const isTrace = (place: string) => isInside(place, realFolder) || place === record.reportPipe;
  return traces.placesOf(pid).some(isTrace) ? 'folder' : null;
}

export function canBelong(each: ProcessStat, attempt: TrackedAttempt): boolean {
  const { shim, script } = attempt.record;
  if (each.pid <= 1 || attempt.excludedPids.has(each.pid) || each.start < shim.start) return false;
  if (attempt.isForeignSession(each.session)) return false;
  // Right after its fork, the script is still in the session of the shim.
  return each.session !== shim.pid || isSame(each, script);
}

const isSame = (each: ProcessKey, script: ProcessKey | null): boolean =>
  each.pid === script?.pid && each.start === script.start;

function addDescendants<T extends TrackedAttempt>(
  all: readonly ProcessStat[],
  owners: ReadonlyMap<number, T>,
  join: (owner: T, each: ProcessStat, means: Means) => void,
): void {
  for (let before = -1; before !== owners.size; ) {
    before = owners.size;
    for (const each of all) {
      const owner = owners.has(each.pid) ? undefined : owners.get(each.parent);
      if (owner && canBelong(each, owner)) join(owner, each, 'descent');
    }
  }
}

function remember({ known }: TrackedAttempt, found: readonly Member[]): void {
  known.clear();
  for (const { pid, start } of found) known.set(pid, start);
}

/** Returns the shim and its helpers, unless the pid of the shim was reassigned. */
export function shimSession(all: readonly ProcessStat[], { shim }: PidRecord): ProcessStat[] {
  if (all.some(({ pid, start }) => pid === shim.pid && start !== shim.start)) return [];
  return all.filter(({ session, start }) => session === shim.pid && start >= shim.start);
}
