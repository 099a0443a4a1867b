/** `longhaul retry`: runs ended jobs again, those that are named or all that failed. */
import type { Target as Seen } from '../../../core/ports/job-store.ts';
import { plural } from '../../../wire/spans.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import type { Decided } from './many-jobs.ts';
import { jobsOf, sayDecided } from './many-jobs.ts';

export async function retry(call: Call): Promise<number> {
  const ids = call.positionals;
  const isAll = call.flag('failed');
  if (isAll ? ids.length > 0 : ids.length === 0)
    throw call.wrong(isAll ? 'name jobs, or --failed, not both' : 'ID is missing');
  if (!isAll && (call.text('queue') ?? call.text('group')) !== undefined)
    throw call.wrong('--queue and --group go with --failed');
  return withTarget(call, async (target) =>
    isAll
      ? retryFailed(call, target)
      : sayDecided(
          target,
          await requeue(
            target,
            ids.map((id) => ({ id })),
          ),
          call.flag('json'),
        ),
  );
}

async function requeue(target: Target, seen: readonly Seen[]): Promise<Decided[]> {
  if (seen.length === 0) return [];
  const answers = await target.longhaul.store.jobs.requeue(seen);
  return answers.map((answer, place) => ({
    id: seen[place]?.id ?? '',
    answer: answer.ok ? { ok: true, words: 'waits again' } : answer,
  }));
}

async function retryFailed(call: Call, target: Target): Promise<number> {
  const [queue, group] = [call.text('queue'), call.text('group')];
  if (queue !== undefined) await checkQueueIsKnown(target, queue);
  const query = {
    state: 'failed' as const,
    ...(queue !== undefined && { queue }),
    ...(group !== undefined && { group }),
  };
  let [done, refused] = [0, 0];
  for await (const seen of jobsOf(target, query)) {
    const decided = await requeue(target, seen);
    done += decided.filter(({ answer }) => answer.ok).length;
    refused += decided.filter(({ answer }) => !answer.ok).length;
  }
  if (call.flag('json')) printJson({ requeued: done, refused });
  else
    print(
      `${plural(done, 'failed job')} ${done === 1 ? 'waits' : 'wait'} again${refused === 0 ? '' : `, ${refused} refused`}`,
    );
  return refused === 0 ? 0 : 1;
}
