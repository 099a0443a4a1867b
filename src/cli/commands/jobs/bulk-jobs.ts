/** Changes of many jobs: pages of jobs that match a query, and the results of the change. */
import type { JobQuery, Target as JobTarget } from '../../../core/ports/job-store.ts';
import type { Refused } from '../../../core/ports/refusal.ts';
import { print, printJson } from '../../output/screen.ts';
import { nearestJob } from '../../target/job-ids.ts';
import type { Target } from '../../target/open-target.ts';

const PAGE = 500;

/** Yields each job with its attempt number, so that the store refuses a change if the job has moved on meanwhile. */
export async function* jobPages(
  target: Target,
  query: Omit<JobQuery, 'order' | 'limit' | 'after'>,
): AsyncGenerator<JobTarget[]> {
  for (let after: string | undefined; ; ) {
    const page = await target.longhaul.store.jobs.list({
      ...query,
      order: 'newest',
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    yield page.jobs.map(({ id, attempt }) => ({ id, attempt }));
    if (page.next === null) return;
    after = page.next;
  }
}

export interface JobResult {
  readonly id: string;
  readonly answer: { readonly ok: true; readonly outcome: string } | Refused;
}

/** Prints one line a job; returns exit code 1 if a job was refused. */
export async function printResults(target: Target, results: readonly JobResult[], isJson: boolean): Promise<number> {
  if (isJson)
    printJson(
      results.map(({ id, answer }) => (answer.ok ? { id, ok: true, outcome: answer.outcome } : { id, ...answer })),
    );
  else
    for (const { id, answer } of results)
      print(`${id}: ${answer.ok ? answer.outcome : await refusalText(target, id, answer)}`);
  return results.every(({ answer }) => answer.ok) ? 0 : 1;
}

async function refusalText(target: Target, id: string, { refusal }: Refused): Promise<string> {
  return refusal.code === 'not-found' ? `${refusal.message}${await nearestJob(target, id)}` : refusal.message;
}
