/**
 * What a call says of a job: the event with its numbers, which its own job holds, and what is known of the job itself, as
 * long as it is still where the event left it. Never its data and never its result: they may be anything, and of any size.
 */

import type { Job } from '../../core/job/job.ts';
import { isEnded } from '../../core/job/job.ts';
import type { HookOrder } from '../../core/webhooks/webhook.ts';
import { HOOK_ID_PREFIX, HOOKS_QUEUE } from '../../core/webhooks/webhook.ts';
import type { NodeSettings } from '../node-settings.ts';
import { addressOf } from '../scripts/script-environment.ts';

/** What a job of the queue `hooks` orders; null for one that no hook has written. */
export function readHookOrder({ id, queue, data }: Pick<Job, 'id' | 'queue' | 'data'>): HookOrder | null {
  return queue === HOOKS_QUEUE && id.startsWith(HOOK_ID_PREFIX) ? (JSON.parse(data) as HookOrder) : null;
}

export function hookBody(order: HookOrder, job: Job | null, settings: NodeSettings): string {
  const { event, job: id, queue, attempt, at, percent } = order;
  return JSON.stringify({
    type: `job.${event}`,
    timestamp: new Date(at).toISOString(),
    data: {
      job: id,
      queue,
      attempt,
      ...(percent !== undefined && { percent }),
      url: addressOf({ queue, id }, settings),
      ...(job !== null && namesOf(job)),
      ...(isAsTold(order, job) && detailsOf(job)),
    },
  });
}

/** It may have gone on since: then what it is now is not what is told. */
function isAsTold({ event, at, attempt }: HookOrder, job: Job | null): job is Job {
  if (job === null || job.attempt !== attempt) return false;
  return isEnded(job.state) ? job.state === event && job.endedAt === at : job.state === 'running';
}

const namesOf = ({ name, tags, createdAt }: Job): object => ({
  name,
  tags,
  createdAt: new Date(createdAt).toISOString(),
});

function detailsOf({ failure, forwardedTo, progress }: Job): object {
  return {
    failure: failure === null ? null : { group: failure.group, message: failure.message },
    forwardedTo,
    progress: progress === null ? null : { percent: progress.percent, text: progress.text },
  };
}
