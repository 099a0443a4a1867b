/** What every kind of fault has: a name, needs, and how it is injected. A kind is one small file of this folder. */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Effect } from '../checks/evidence.ts';
import type { Need } from '../environment.ts';
import type { Member, RunningProcess } from '../member.ts';
import type { Stage } from '../stage.ts';

export interface FaultContext {
  readonly stage: Stage;
  /** The fault's own random numbers: a seed repeats them, whatever other faults do. */
  readonly random: SeededRandom;
}

/** What was hit. */
export interface Injected {
  readonly pid?: number;
  readonly pids?: readonly number[];
  readonly nodePid?: number;
  /** When it began, if that was not at once. */
  readonly from?: number;
  readonly detail: string;
}

export interface FaultKind {
  readonly name: string;
  readonly effect: Effect;
  readonly needs: readonly Need[];
  /** Resolves when the fault is over and healed; null if there was nothing to hit. */
  inject(context: FaultContext): Promise<Injected | null>;
}

/** Runs `hit` on a random process that no other fault has; null if there is none. */
export async function withMember(
  members: readonly Member[],
  { random, stage }: FaultContext,
  hit: (member: Member, running: RunningProcess) => Promise<Injected | null>,
): Promise<Injected | null> {
  const free = members.filter(({ isTaken, running }) => !isTaken && running !== null);
  if (free.length === 0 || stage.isQuiet) return null;
  const member = random.pick(free);
  const { running } = member;
  if (running === null) return null;
  member.isTaken = true;
  try {
    return await hit(member, running);
  } finally {
    member.isTaken = false;
  }
}
