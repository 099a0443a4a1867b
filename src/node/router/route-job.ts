/** Selects the rule and the destinations of a job. Pure: availability and random numbers are parameters. */
import { parseRoute } from './route-address.ts';
import type { RouterRule, RouterRules } from './router-rules.ts';

export interface Routed {
  readonly source: string;
  /** The job's destination: an address, a queue name, or empty. */
  readonly destination: string;
  readonly tags: readonly string[];
}

/** Longest text that a regular expression is applied to. */
const MAX_TESTED_LENGTH = 2_048;

/** Returns the first rule that matches. */
export function ruleFor({ rules, default: otherwise }: RouterRules, job: Routed): RouterRule {
  return rules.find((rule) => matches(rule, job)) ?? otherwise;
}

function matches({ source, destination, tags }: RouterRule, job: Routed): boolean {
  return (
    (source === null || source.test(job.source.slice(0, MAX_TESTED_LENGTH))) &&
    (destination === null || destination.test(job.destination.slice(0, MAX_TESTED_LENGTH))) &&
    tags.every((tag) => job.tags.includes(tag))
  );
}

/** Returns the candidate addresses of each route. Null: a route needs the job's queue, but the job names none. */
export function candidatesOf(
  routes: readonly (readonly string[])[],
  { destination }: Routed,
): readonly string[][] | null {
  const queue = /(?:^|\/)([A-Za-z0-9_][A-Za-z0-9_.-]*)\/?$/.exec(destination)?.[1];
  const candidates = routes.map((each) => each.map((route) => parseRoute(route, queue ?? '')));
  const isComplete = candidates.flat().every((address) => address !== null && !address.endsWith('/q/'));
  return isComplete ? (candidates as string[][]) : null;
}

/** Picks one of those that are up, or one of all if none is. `random` is in [0, 1). */
export function pick(candidates: readonly string[], isUp: (address: string) => boolean, random: number): string {
  const up = candidates.filter(isUp);
  const from = up.length > 0 ? up : candidates;
  return from[Math.floor(random * from.length)] ?? '';
}
