/** Plans the faults of a run from its seed: which, when, and with which random numbers. Pure: a seed gives one plan. */
import { openRandom } from '../faults/seeded-random.ts';

export interface PlannedFault {
  /** Milliseconds after the begin of the faults. */
  readonly atMs: number;
  readonly kind: string;
  /** The seed of the fault's own random numbers. */
  readonly seed: number;
}

export interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** The mean time between two faults. */
  readonly everyMs: number;
  readonly kinds: readonly string[];
}

/** Every kind occurs once before one occurs again, in a new order each time. */
export function planFaults({ seed, durationMs, everyMs, kinds }: PlanOptions): readonly PlannedFault[] {
  const random = openRandom(seed);
  const plan: PlannedFault[] = [];
  let round: string[] = [];
  for (let atMs = 0; kinds.length > 0; ) {
    atMs += random.between(everyMs / 2, (everyMs * 3) / 2);
    if (atMs >= durationMs) break;
    if (round.length === 0) round = [...kinds];
    const [kind = ''] = round.splice(random.between(0, round.length - 1), 1);
    plan.push({ atMs, kind, seed: random.between(1, 2 ** 31 - 1) });
  }
  return plan;
}
