/**
 * Searches jobs by the beginning of an id, a tag, a name, or a field of the data that the queue declares as searchable.
 * Indexed matches come first; then the newest jobs are scanned.
 *
 * Pages are read from the store and filtered here, because a store never parses data. Every page scans a bounded
 * number.
 */

import type { JobPage, JobQuery, JobStore } from '../ports/job-store.ts';
import { filterPages } from './filter-pages.ts';
import type { Job } from './job.ts';
import { ID_PATTERN } from './names.ts';

export interface JobSearch {
  readonly words: string;
  readonly queue?: string;
  /** The `next` of the previous page. */
  readonly after?: string;
  readonly limit: number;
}

/** Returns the searchable fields of a queue's data. */
export type SearchFields = (queue: string) => Promise<readonly string[]>;

const STAGES = ['id', 'tag', 'name', 'rest'] as const;
type Stage = (typeof STAGES)[number];

export async function searchJobs(jobs: JobStore, search: JobSearch, fieldsOf: SearchFields): Promise<JobPage> {
  const [stage, after] = readCursor(search.after);
  const page = await STEPS[stage](jobs, { search, after, fieldsOf });
  const isWanted = isNewIn(stage, search);
  const found = page.jobs.filter(isWanted);
  if (page.next !== null) return { jobs: found, next: `${stage}:${page.next}` };
  const following = STAGES[STAGES.indexOf(stage) + 1];
  if (following === undefined) return { jobs: found, next: null };
  if (found.length >= search.limit) return { jobs: found, next: `${following}:` };
  const limit = search.limit - found.length;
  const rest = await searchJobs(jobs, { ...search, limit, after: `${following}:` }, fieldsOf);
  return { jobs: [...found, ...rest.jobs], next: rest.next };
}

function readCursor(after = ''): [Stage, string | undefined] {
  const [name, ...rest] = after.split(':');
  const cursor = rest.join(':');
  return [STAGES.find((stage) => stage === name) ?? 'id', cursor === '' ? undefined : cursor];
}

interface Step {
  readonly search: JobSearch;
  readonly after: string | undefined;
  readonly fieldsOf: SearchFields;
}

const STEPS: Readonly<Record<Stage, (jobs: JobStore, step: Step) => Promise<JobPage>>> = {
  id: async (jobs, { search }) => {
    const found = ID_PATTERN.test(search.words) ? await jobs.find([search.words]) : [];
    return { jobs: found.filter((job) => job !== null), next: null };
  },
  tag: (jobs, step) => jobs.list(queryOf(step, { tag: step.search.words })),
  name: (jobs, step) => jobs.list(queryOf(step, { name: step.search.words })),
  rest: (jobs, step) =>
    filterPages(jobs, queryOf(step, {}), async (job) =>
      matchesText(job, step.search.words, await step.fieldsOf(job.queue)),
    ),
};

function queryOf({ search: { queue, limit }, after }: Step, by: Partial<JobQuery>): JobQuery {
  return {
    order: 'newest',
    limit,
    ...by,
    ...(queue !== undefined && { queue }),
    ...(after !== undefined && { after }),
  };
}

/** Filters out jobs that an earlier stage has returned, and jobs of other queues. */
function isNewIn(stage: Stage, { words, queue }: JobSearch): (job: Job) => boolean {
  const index = STAGES.indexOf(stage);
  return (job) =>
    (queue === undefined || job.queue === queue) &&
    !(index > 0 && job.id === words) &&
    !(index > 1 && job.tags.includes(words)) &&
    !(index > 2 && job.name === words);
}

/** Returns whether a job matches the text. Only ids are case-sensitive. */
export function matchesText(job: Job, words: string, fields: readonly string[]): boolean {
  const lowerCase = words.toLowerCase();
  const holds = (text: string): boolean => text.toLowerCase().includes(lowerCase);
  if (job.id.startsWith(words) || holds(job.name ?? '') || job.tags.some(holds)) return true;
  return fields.length > 0 && valuesOf(job.data, fields).some(holds);
}

function valuesOf(data: string, fields: readonly string[]): string[] {
  const whole: unknown = JSON.parse(data);
  return fields.flatMap((path) => {
    const value = path.split('.').reduce(partOf, whole);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
  });
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
