/** One decision about many jobs: those that are named, or all that a query finds, a page at a time. */
import type { JobQuery, Target as Seen } from '../../../core/ports/job-store.ts';
import type { Refused } from '../../../core/ports/refusal.ts';
import { print, printJson } from '../../output/screen.ts';
import { nearestJob } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';

const PAGE = 500;

/** Each as it was seen, so that one that moves on meanwhile is left alone. */
export async function* jobsOf(
  target: Target,
  query: Omit<JobQuery, 'order' | 'limit' | 'after'>,
): AsyncGenerator<Seen[]> {
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

export interface Decided {
  readonly id: string;
  readonly answer: { readonly ok: true; readonly words: string } | Refused;
}

/** A line for each job; 1 when one was refused. */
export async function sayDecided(target: Target, decided: readonly Decided[], isJson: boolean): Promise<number> {
  if (isJson)
    printJson(
      decided.map(({ id, answer }) => (answer.ok ? { id, ok: true, outcome: answer.words } : { id, ...answer })),
    );
  else
    for (const { id, answer } of decided)
      print(`${id}: ${answer.ok ? answer.words : await whyNot(target, id, answer)}`);
  return decided.every(({ answer }) => answer.ok) ? 0 : 1;
}

async function whyNot(target: Target, id: string, { refusal }: Refused): Promise<string> {
  return refusal.code === 'not-found' ? `${refusal.message}${await nearestJob(target, id)}` : refusal.message;
}
