/**
 * Finds all processes of an attempt, including one that forks and exits every few ms.
 *
 *   all listed processes ──▶ pids assigned meanwhile ──▶ pids assigned meanwhile … ──▶ none was assigned
 *
 * A listed process that is gone when it is read may have left a child that is in no listing. But a child has a later
 * pid, and the kernel reports the last pid it assigned. So the pids assigned since are read too, again and again, until
 * none was assigned during a read.
 *
 * Invariant: pids are read in ascending order. A parent that was found gone had forked before that, so its child, which
 * has a later pid, is visible.
 */
import { existsSync } from 'node:fs';
import { MARK_VARIABLE } from '../attempt/start-request.ts';
import { allMembersOf, type Means, type Member, membershipOf, membersOf, type TrackedAttempt } from './membership.ts';
import { isThread, lastPid, readLiving } from './process-stat.ts';
import { type Survey, type Traces, takeSurvey } from './process-survey.ts';
import { placesOf, readEnvironment } from './process-traces.ts';

export interface FoundMembers {
  readonly members: readonly Member[];
  /**
   * True when no process can have escaped. False where pids are assigned faster than they can be read, or have wrapped
   * around.
   */
  readonly isComplete: boolean;
}

/** Called as soon as a process is known to belong, so that a signal reaches it before it forks and exits. */
export type OnFound = (member: Member) => void;

const MAX_ROUNDS = 100;
/** Beyond this range, another listing is cheaper. */
const MAX_PID_RANGE = 4_000;
const liveTraces: Traces = { markOf: (pid) => readEnvironment(pid, MARK_VARIABLE), placesOf };

export async function findMembers(attempt: TrackedAttempt, onFound: OnFound = () => undefined): Promise<FoundMembers> {
  return findInSurvey(await takeSurvey(), attempt, onFound);
}

/** Reports whether no process is left, with as few reads as possible. Null when this search is inconclusive. */
export async function hasNoMembers(attempt: TrackedAttempt): Promise<boolean | null> {
  const survey = await takeSurvey();
  // The listing alone comes first: while it shows a member, nothing else need be read.
  if (membersOf(survey.all, attempt).length > 0) return false;
  const { members, isComplete } = findInSurvey(survey, attempt, () => undefined);
  return members.length > 0 ? false : isComplete || null;
}

/**
 * Finds members only among pids after that of the script. For an attempt so young that pids cannot have wrapped around:
 * reading each later pid is enough, and the machine may have thousands of processes.
 */
export function findYoungMembers(attempt: TrackedAttempt): FoundMembers {
  const first = attempt.record.script?.pid;
  if (first === undefined) return { members: [], isComplete: false };
  return findNewPids(attempt, { from: first, found: [], onFound: () => undefined });
}

function findInSurvey(survey: Survey, attempt: TrackedAttempt, onFound: OnFound): FoundMembers {
  const found = allMembersOf(survey, attempt);
  for (const member of found) onFound(member);
  return findNewPids(attempt, { from: survey.lastPid, found, onFound });
}

interface NewPidSearch {
  /** Pids up to this one were read. */
  readonly from: number;
  readonly found: Member[];
  readonly onFound: OnFound;
}

/** Synchronous: an await would give a runaway process time. */
function findNewPids(attempt: TrackedAttempt, { from, found, onFound }: NewPidSearch): FoundMembers {
  let read = from;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const newest = lastPid();
    if (newest === read) return { members: found, isComplete: true };
    if (newest < read || newest - read > MAX_PID_RANGE) break;
    for (let pid = read + 1; pid <= newest; pid += 1) {
      const member = memberAt(pid, attempt);
      if (member === null) continue;
      onFound(member);
      found.push(member);
    }
    read = newest;
  }
  return { members: found, isComplete: false };
}

function memberAt(pid: number, attempt: TrackedAttempt): Member | null {
  // Most are gone already, and existsSync costs a tenth of an exception.
  const stat = existsSync(`/proc/${pid}`) ? readLiving(pid) : null;
  if (stat === null || stat === 'zombie') return null;
  const means: Means | null = membershipOf(stat, attempt, liveTraces);
  if (means === null || isThread(pid)) return null;
  attempt.known.set(pid, stat.start);
  return { ...stat, means };
}
