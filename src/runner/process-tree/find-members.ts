/**
 * A look for an attempt's processes that none of them escapes, also one that becomes another process every few ms.
 *
 *   all that are listed ──▶ those born meanwhile, by their numbers ──▶ those born meanwhile … ──▶ none was born
 *
 * A process that is listed and gone when it is read may have left a child that is in no listing. But a child has a
 * later number, and the kernel tells the last number it gave out. So the numbers given out since are read too, and
 * again, until none was given out while they were read.
 *
 * Invariant: they are read in their order. A parent that was found gone had its child before that, so the child, which
 * comes after it, can be seen.
 */
import { existsSync } from 'node:fs';
import { MARK } from '../attempt/start-order.ts';
import { type Attached, allMembersOf, type Means, type Member, meansOf, membersOf } from './membership.ts';
import { isThread, lastPid, readLiving } from './process-stat.ts';
import { type Survey, type Traces, takeSurvey } from './process-survey.ts';
import { placesOf, readEnvironment } from './process-traces.ts';

export interface Look {
  readonly members: readonly Member[];
  /** Nothing can have escaped. False where numbers are given out faster than they can be read, or have begun anew. */
  readonly isWhole: boolean;
}

/** Called at the moment a process is known to belong: what is signalled now cannot become another one before that. */
export type OnSight = (member: Member) => void;

const CHASES = 100;
/** More numbers than that are better listed. */
const MOST_NUMBERS = 4_000;
const fresh: Traces = { markOf: (pid) => readEnvironment(pid, MARK), placesOf };

export async function findMembers(attached: Attached, onSight: OnSight = () => undefined): Promise<Look> {
  return findIn(await takeSurvey(), attached, onSight);
}

/** Whether there are none, with as little reading as will tell. Null: cannot be told from this look. */
export async function hasNoMembers(attached: Attached): Promise<boolean | null> {
  const survey = await takeSurvey();
  // What the listing itself shows comes first: as long as that is somebody, nothing need be read of the others.
  if (membersOf(survey.all, attached).length > 0) return false;
  const { members, isWhole } = findIn(survey, attached, () => undefined);
  return members.length > 0 ? false : isWhole || null;
}

/**
 * Only among those born after the script itself. For one that is so young that numbers cannot have begun anew: then it
 * is enough to ask for each number that was given out since, and the machine may have thousands of processes.
 */
export function findYoungMembers(attached: Attached): Look {
  const first = attached.record.script?.pid;
  if (first === undefined) return { members: [], isWhole: false };
  return chase(attached, { from: first, found: [], onSight: () => undefined });
}

function findIn(survey: Survey, attached: Attached, onSight: OnSight): Look {
  const found = allMembersOf(survey, attached);
  for (const member of found) onSight(member);
  return chase(attached, { from: survey.lastPid, found, onSight });
}

interface Chase {
  /** Numbers up to this one were looked at. */
  readonly from: number;
  readonly found: Member[];
  readonly onSight: OnSight;
}

/** Nothing is awaited in between: that would give a runaway its time. */
function chase(attached: Attached, { from, found, onSight }: Chase): Look {
  let read = from;
  for (let round = 0; round < CHASES; round += 1) {
    const newest = lastPid();
    if (newest === read) return { members: found, isWhole: true };
    if (newest < read || newest - read > MOST_NUMBERS) break;
    for (let pid = read + 1; pid <= newest; pid += 1) {
      const member = memberAt(pid, attached);
      if (member === null) continue;
      onSight(member);
      found.push(member);
    }
    read = newest;
  }
  return { members: found, isWhole: false };
}

function memberAt(pid: number, attached: Attached): Member | null {
  // Most are gone already, and asking costs a tenth of an error.
  const stat = existsSync(`/proc/${pid}`) ? readLiving(pid) : null;
  if (stat === null || stat === 'zombie') return null;
  const means: Means | null = meansOf(stat, attached, fresh);
  if (means === null || isThread(pid)) return null;
  attached.known.set(pid, stat.start);
  return { ...stat, means };
}
