/**
 * Which processes belong to an attempt, and how that is known.
 *
 *   cgroup    it is in the attempt's control group, where there is one
 *   session   it is in the session that the script leads
 *   known     it belonged when somebody looked before
 *   descent   its parent belongs
 *   mark      its environment carries the attempt's mark
 *   folder    it works in the attempt's folder, or has a file of it open for writing, or fd 3, and has no terminal
 *
 * Invariant: the shim, and what is in the shim's own session, never belongs; neither does anything that is older
 * than the shim, nor whoever asks. A number that was given to another process since is no member.
 */
import type { Exit, PidRecord, ProcessKey } from '../attempt/attempt-files.ts';
import { processesIn } from './cgroups.ts';
import { type ProcessStat, readStat } from './process-stat.ts';
import type { Survey, Traces } from './process-survey.ts';
import { isInside } from './process-traces.ts';

export type Means = 'cgroup' | 'session' | 'known' | 'descent' | 'mark' | 'folder';

export interface Attached {
  readonly folder: string;
  /** Without symbolic links, as /proc shows paths. */
  readonly realFolder: string;
  /** Replaced once, when the script's own line is there. */
  record: PidRecord;
  /** Start times by pid of those that were found to belong at the last look. */
  readonly known: Map<number, number>;
  /** Processes of Longhaul itself, which have the attempt's files open. */
  readonly spared: ReadonlySet<number>;
  /** Null once nothing is left in it: then it is removed. */
  readonly cgroup: string | null;
  /** How it ended; null until its shim has written that. */
  readonly exit: Exit | null;
  /** Whether a session is that of another attempt, or of its shim. Nobody can enter the session of somebody else. */
  isElsewhere(session: number): boolean;
}

export interface Member extends ProcessStat {
  readonly means: Means;
}

/** By what the walk itself shows, for any number of attempts at once. */
export function membersOfEach<T extends Attached>(
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
    const byMemory = known.get(each.pid);
    if (bySession && canBelong(each, bySession)) join(bySession, each, 'session');
    else if (byMemory?.known.get(each.pid) === each.start && canBelong(each, byMemory)) join(byMemory, each, 'known');
  }
  addDescendants(all, owners, join);
  for (const [owner, found] of members) remember(owner, found);
  return members;
}

export function membersOf(all: readonly ProcessStat[], attached: Attached): Member[] {
  return membersOfEach(all, [attached]).get(attached) ?? [];
}

/** Also by what must be read of each process. */
export function allMembersOf(survey: Survey, attached: Attached): Member[] {
  const { all } = survey;
  const found = membersOf(all, attached);
  const grouped = new Set(attached.cgroup === null ? [] : processesIn(attached.cgroup));
  const owners = new Map(found.map(({ pid }) => [pid, attached]));
  const join = (_owner: Attached, each: ProcessStat, means: Means) => {
    owners.set(each.pid, attached);
    found.push({ ...each, means });
  };
  for (const each of all) {
    if (owners.has(each.pid) || !canBelong(each, attached)) continue;
    const means = grouped.has(each.pid) ? 'cgroup' : tracedBy(each, survey, attached);
    if (means !== null) join(attached, each, means);
  }
  addDescendants(all, owners, join);
  remember(attached, found);
  return found;
}

/** For one process alone, that was born after the others were looked at. */
export function meansOf(each: ProcessStat, attached: Attached, traces: Traces): Means | null {
  if (!canBelong(each, attached)) return null;
  if (each.session === sessionOf(attached) && isSessionHeld(attached)) return 'session';
  if (attached.known.has(each.parent)) return 'descent';
  if (attached.cgroup !== null && processesIn(attached.cgroup).includes(each.pid)) return 'cgroup';
  return tracedBy(each, traces, attached);
}

function isSessionHeld(attached: Attached): boolean {
  const leader = readStat(sessionOf(attached));
  return holdsSession(attached, new Map(leader === null ? [] : [[leader.pid, leader.start]]));
}

const sessionOf = ({ record }: Attached): number => record.script?.pid ?? -1;

/** The script is there or, if it is gone, its number is: a number is not given away while a session goes by it. */
function holdsSession({ record: { script } }: Attached, starts: ReadonlyMap<number, number>): boolean {
  if (script === null) return false;
  const start = starts.get(script.pid);
  return start === undefined || start === script.start;
}

function tracedBy({ pid, terminal }: ProcessStat, traces: Traces, attached: Attached): Means | null {
  const mark = traces.markOf(pid);
  // The mark of another attempt says whose it is, whatever files it has open.
  if (mark !== null) return mark === attached.folder ? 'mark' : null;
  // A person who looks around in the folder does so from a terminal.
  if (terminal !== 0) return null;
  const { realFolder, record } = attached;
  const isTied = (place: string) => isInside(place, realFolder) || place === record.saidPipe;
  return traces.placesOf(pid).some(isTied) ? 'folder' : null;
}

export function canBelong(each: ProcessStat, attached: Attached): boolean {
  const { shim, script } = attached.record;
  if (each.pid <= 1 || attached.spared.has(each.pid) || each.start < shim.start) return false;
  if (attached.isElsewhere(each.session)) return false;
  // For a moment the script is still in the shim's session.
  return each.session !== shim.pid || isSame(each, script);
}

const isSame = (each: ProcessKey, script: ProcessKey | null): boolean =>
  each.pid === script?.pid && each.start === script.start;

function addDescendants<T extends Attached>(
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

function remember({ known }: Attached, found: readonly Member[]): void {
  known.clear();
  for (const { pid, start } of found) known.set(pid, start);
}

/** The shim and its own helpers, as long as the shim's number still is the shim's. */
export function shimSession(all: readonly ProcessStat[], { shim }: PidRecord): ProcessStat[] {
  if (all.some(({ pid, start }) => pid === shim.pid && start !== shim.start)) return [];
  return all.filter(({ session, start }) => session === shim.pid && start >= shim.start);
}
