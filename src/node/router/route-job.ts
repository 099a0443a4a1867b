/** Which rule holds for a job, and where it says that the job goes. Pure: who is up and which number was drawn are given. */
import { parseRoute } from './route-address.ts';
import type { RouterRule, RouterRules } from './router-rules.ts';

export interface Routed {
  readonly source: string;
  /** As the job says it: an address, the name of a queue, or nothing. */
  readonly destination: string;
  readonly tags: readonly string[];
}

/** What an expression is tried on is never longer than that. */
const MOST_TRIED = 2_048;

/** The first that fits. */
export function ruleFor({ rules, default: otherwise }: RouterRules, job: Routed): RouterRule {
  return rules.find((rule) => fits(rule, job)) ?? otherwise;
}

function fits({ source, destination, tags }: RouterRule, job: Routed): boolean {
  return (
    (source === null || source.test(job.source.slice(0, MOST_TRIED))) &&
    (destination === null || destination.test(job.destination.slice(0, MOST_TRIED))) &&
    tags.every((tag) => job.tags.includes(tag))
  );
}

/** The candidates at each place of a rule, as addresses. Null: the job names no queue, and the place needs one. */
export function candidatesOf(
  routes: readonly (readonly string[])[],
  { destination }: Routed,
): readonly string[][] | null {
  const queue = /(?:^|\/)([A-Za-z0-9_][A-Za-z0-9_.-]*)\/?$/.exec(destination)?.[1];
  const places = routes.map((places) => places.map((place) => parseRoute(place, queue ?? '')));
  const isWhole = places.flat().every((place) => place !== null && !place.endsWith('/q/'));
  return isWhole ? (places as string[][]) : null;
}

/** One of those that are up; of all of them where none is. `random` in [0, 1). */
export function pick(candidates: readonly string[], isUp: (address: string) => boolean, random: number): string {
  const up = candidates.filter(isUp);
  const from = up.length > 0 ? up : candidates;
  return from[Math.floor(random * from.length)] ?? '';
}
