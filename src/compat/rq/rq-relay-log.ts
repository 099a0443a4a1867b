/** The log of a message of the queue `relay`, which has no script: the lines that RQ's relay script prints, from the job. */
import type { Job } from '../../core/job/job.ts';
import { readRelayRequest } from '../../core/job/relay-request.ts';
import { statusOf } from '../../node/queues/rq-view.ts';

export function relayLog(job: Job, url: string): string {
  const request = readRelayRequest(job.data);
  const isRemote = request !== null && (request.forceRemote || !request.to.startsWith(url));
  const lines = [
    `RQ START - relay, attempt ${job.attempt}`,
    ...(request?.forceRemote === true ? ['FORCE REMOTE'] : []),
    `attempting ${isRemote ? 'remote' : 'local'} delivery to ${request?.to ?? 'no destination'}`,
    statusOf(job, url),
  ];
  return `${lines.join('\n')}\n`;
}
