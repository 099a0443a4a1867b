/** What a node tells, as lines of its log. Decides the words and the weight of each, and nothing else. */
import type { NodeNews } from '../../node/open-node.ts';
import type { WorkerEvent } from '../../worker/loop/worker-event.ts';
import type { Log } from './serve-log.ts';

export function logNews(log: Log, news: NodeNews): void {
  switch (news.type) {
    case 'adopted':
      return log.info({ jobs: news.jobs }, `took up ${news.jobs} running ${news.jobs === 1 ? 'job' : 'jobs'}`);
    case 'trouble':
      return log.error({ error: inWords(news.error) }, `trouble: ${news.what}${withCause(news.error)}`);
    case 'queue':
      return logQueue(log, news);
    case 'worker':
      return logWorker(log, news.event);
  }
}

function logQueue(log: Log, { queue, problem, notices }: NodeNews & { type: 'queue' }): void {
  if (problem === null) log.info({ queue }, `queue ${queue}: ready`);
  else log.warn({ queue, problem }, `queue ${queue}: ${problem}`);
  for (const notice of notices) log.info({ queue }, `queue ${queue}: ${notice}`);
}

function logWorker(log: Log, event: WorkerEvent): void {
  switch (event.type) {
    case 'ended': {
      const { id, queue, attempt } = event.job;
      const how = outcomeOf(event);
      return log.info({ job: id, queue, attempt, how }, `job ${id} of ${queue}, attempt ${attempt}: ${how}`);
    }
    case 'store-away':
      return log.error({ error: inWords(event.error) }, `the store does not answer: ${inWords(event.error)}`);
    case 'store-back':
      return log.info('the store answers again');
    case 'blocked':
      return log.warn({ ms: event.ms }, `the node stood still for ${event.ms} ms`);
    case 'abandoned':
      return log.warn({ job: event.job.id }, `job ${event.job.id} did not stop within its grace (${event.reason})`);
    case 'journal-found':
      return log.info(`${event.settlements} results that an earlier node could not deliver are delivered now`);
    case 'journal-set-aside':
      return log.warn(
        { path: event.path, settlements: event.settlements },
        `the journal ${event.path} belongs to another store; its ${event.settlements} results are not delivered`,
      );
    case 'trouble':
      return log.error({ error: inWords(event.error) }, `trouble: ${event.what}${withCause(event.error)}`);
    default:
      return;
  }
}

/** The settlement of a cancelled job is a failure as a rule, because its script was killed: the job's state decides. */
function outcomeOf({ settlement, answer, stopReason }: WorkerEvent & { type: 'ended' }): string {
  if (answer?.ok === true && answer.state === 'cancelled') return 'cancelled';
  return settlement?.kind ?? stopReason ?? 'lost';
}

const withCause = (error: unknown): string => (error === null ? '' : `: ${inWords(error)}`);

export function inWords(error: unknown): string {
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error));
}
