/**
 * Finding jobs by what somebody remembers of them: the beginning of an id, a tag, a name, or a field of the data that
 * the queue declared as searchable. What an index knows comes first, then the newest jobs are looked through.
 *
 * It asks a store for pages and looks at them here: no store ever looks into data. Every page looks at a bounded number.
 */

import type { JobPage, JobQuery, JobStore } from '../ports/job-store.ts';
import { lookThrough } from './filter-pages.ts';
import type { Job } from './job.ts';
import { ID_PATTERN } from './names.ts';

export interface JobSearch {
  readonly words: string;
  readonly queue?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** The fields of a queue's data that may be searched. */
export type SearchFields = (queue: string) => Promise<readonly string[]>;

const STAGES = ['id', 'tag', 'name', 'rest'] as const;
type Stage = (typeof STAGES)[number];

export async function searchJobs(jobs: JobStore, search: JobSearch, fieldsOf: SearchFields): Promise<JobPage> {
  const [stage, after] = placeOf(search.after);
  const page = await STEPS[stage](jobs, { search, after, fieldsOf });
  const isWanted = fresh(stage, search);
  const found = page.jobs.filter(isWanted);
  if (page.next !== null) return { jobs: found, next: `${stage}:${page.next}` };
  const following = STAGES[STAGES.indexOf(stage) + 1];
  if (following === undefined) return { jobs: found, next: null };
  if (found.length >= search.limit) return { jobs: found, next: `${following}:` };
  const limit = search.limit - found.length;
  const rest = await searchJobs(jobs, { ...search, limit, after: `${following}:` }, fieldsOf);
  return { jobs: [...found, ...rest.jobs], next: rest.next };
}

function placeOf(after = ''): [Stage, string | undefined] {
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
    lookThrough(jobs, queryOf(step, {}), async (job) =>
      isFound(job, step.search.words, await step.fieldsOf(job.queue)),
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

/** What an earlier stage has answered is not answered again; and a search in one queue is about that queue. */
function fresh(stage: Stage, { words, queue }: JobSearch): (job: Job) => boolean {
  const place = STAGES.indexOf(stage);
  return (job) =>
    (queue === undefined || job.queue === queue) &&
    !(place > 0 && job.id === words) &&
    !(place > 1 && job.tags.includes(words)) &&
    !(place > 2 && job.name === words);
}

/** Whether a job is meant by these words; case does not count but in ids. */
export function isFound(job: Job, words: string, fields: readonly string[]): boolean {
  const small = words.toLowerCase();
  const holds = (text: string): boolean => text.toLowerCase().includes(small);
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
