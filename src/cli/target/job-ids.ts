/**
 * Finds jobs by id, or by the beginning of an id that no other job shares.
 *
 * Invariant: a prefix stands for a job only if every job was searched that could begin with it.
 */
import { didYouMean } from '../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import type { JobView } from '../../library/index.ts';
import type { Target } from './open-target.ts';

const MIN_PREFIX = 4;
const PAGE = 500;
const MAX_SEARCHED = 5_000;
const MAX_LISTED = 5;
/** How many of the newest jobs a suggestion is chosen from. */
const MAX_SUGGESTED = 200;

export async function findJob(target: Target, given: string): Promise<JobView> {
  const id = await fullId(target, given);
  const job = await target.longhaul.find(id);
  if (job !== null) return job;
  throw new LonghaulError('refused', `there is no job ${id}${await nearestJob(target, id)}`);
}

/** Returns the id of the only job whose id begins with the given text, else the text itself. An ambiguous one is refused. */
export async function fullId(target: Target, given: string): Promise<string> {
  if (given.length < MIN_PREFIX || (await target.longhaul.find(given)) !== null) return given;
  const times = timesOf(given);
  const generated = times === null ? null : await idsFrom(target, given, times);
  // A producer may have chosen an id that looks like a generated one.
  const { ids, isComplete } = generated?.ids.length ? generated : await idsFrom(target, given);
  const [first = given, ...more] = ids;
  if (more.length === 0) return isComplete ? first : given;
  const listed = [first, ...more].slice(0, MAX_LISTED).join(', ');
  throw new LonghaulError(
    'refused',
    `${given} is ambiguous: it is the beginning of ${isComplete ? '' : 'at least '}${ids.length} job ids (${listed}${ids.length > MAX_LISTED ? ', …' : ''}); add more characters`,
  );
}

type Times = Pick<JobQuery, 'since' | 'before'>;

/** Searches the newest jobs, or those that were added at these times. */
async function idsFrom(
  { longhaul }: Target,
  prefix: string,
  times: Times = {},
): Promise<{ ids: string[]; isComplete: boolean }> {
  const ids: string[] = [];
  const query: JobQuery = { order: 'newest', limit: PAGE, ...times };
  let after: string | undefined;
  for (let searched = 0; searched < MAX_SEARCHED; searched += PAGE) {
    const page = await longhaul.store.jobs.list({ ...query, ...(after !== undefined && { after }) });
    ids.push(...page.jobs.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id));
    if (page.next === null) return { ids, isComplete: true };
    after = page.next;
  }
  return { ids, isComplete: false };
}

const GENERATED = /^[0-9a-f]{8}(?:$|-[0-9a-f]{0,4}(?:$|-))/;
const TIME_DIGITS = 12;
/** How far the clock of the process that created the id and the clock of the store may be apart. */
const CLOCK_SLACK_MS = 300_000;

/** Generated ids begin with their time in milliseconds: the prefix gives the times at which such a job was added. */
function timesOf(prefix: string): Times | null {
  if (!GENERATED.test(prefix)) return null;
  const digits = prefix.replace('-', '').slice(0, TIME_DIGITS);
  const [first, last] = ['0', 'f'].map((digit) => Number.parseInt(digits.padEnd(TIME_DIGITS, digit), 16));
  return { since: Math.max(0, (first ?? 0) - CLOCK_SLACK_MS), before: (last ?? 0) + CLOCK_SLACK_MS };
}

/** Suggests one of the newest jobs: the one whose id begins with `id`, else the one with the most similar id. */
export async function nearestJob({ longhaul }: Target, id: string): Promise<string> {
  const { jobs } = await longhaul.list({ limit: MAX_SUGGESTED });
  return didYouMean(
    id,
    jobs.map((job) => job.id),
  );
}
