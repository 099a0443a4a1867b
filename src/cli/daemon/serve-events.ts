/** Maps the events of a node to log lines: only their texts and levels. */
import type { NodeEvent } from '../../node/open-node.ts';
import type { WorkerEvent } from '../../worker/loop/worker-event.ts';
import type { Log } from './serve-log.ts';

export function logNews(log: Log, news: NodeEvent): void {
  switch (news.type) {
    case 'adopted':
      return log.info({ jobs: news.jobs }, `adopted ${news.jobs} running ${news.jobs === 1 ? 'job' : 'jobs'}`);
    case 'trouble':
      return log.error({ error: errorMessage(news.error) }, `${news.what}${withCause(news.error)}`);
    case 'queue':
      return logQueue(log, news);
    case 'worker':
      return logWorker(log, news.event);
  }
}

function logQueue(log: Log, { queue, problem, notices }: NodeEvent & { type: 'queue' }): void {
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
      return log.error({ error: errorMessage(event.error) }, `store unavailable: ${errorMessage(event.error)}`);
    case 'store-back':
      return log.info('store available again');
    case 'blocked':
      return log.warn({ ms: event.ms }, `the event loop was blocked for ${event.ms} ms`);
    case 'abandoned':
      return log.warn(
        { job: event.job.id },
        `job ${event.job.id} did not stop within its grace period (${event.reason}); its code may still run`,
      );
    case 'late-outcome':
      return log.warn(
        { job: event.job.id, how: event.outcome.kind },
        `job ${event.job.id} ended after it was abandoned (${event.reason}); its outcome is ignored: ${event.outcome.kind}`,
      );
    case 'draining':
      return log.error({ abandoned: event.abandoned }, `a worker claims no more jobs: ${event.reason}`);
    case 'resumed':
      return log.info('the worker claims jobs again');
    case 'journal-found':
      return log.info(`settling ${event.settlements} attempt outcomes from the journal of an earlier node`);
    case 'journal-set-aside':
      return log.warn(
        { path: event.path, settlements: event.settlements },
        `the outcome journal ${event.path} belongs to another store; its ${event.settlements} outcomes are not settled`,
      );
    case 'trouble':
      return log.error({ error: errorMessage(event.error) }, `${event.what}${withCause(event.error)}`);
    default:
      return;
  }
}

/** The settlement of a cancelled job is usually a failure, because its script was killed, so the job's state decides. */
function outcomeOf({ settlement, answer, stopReason }: WorkerEvent & { type: 'ended' }): string {
  if (answer?.ok === true && answer.state === 'cancelled') return 'cancelled';
  return settlement?.kind ?? stopReason ?? 'lost';
}

const withCause = (error: unknown): string => (error === null ? '' : `: ${errorMessage(error)}`);

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error));
}
