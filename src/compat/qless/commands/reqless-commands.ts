/** The commands of reqless under their dotted names. Their answers are reqless's, and so are the arguments that differ. */
import type { Arguments, Command } from '../arguments.ts';
import { asText, queueArgument, textArgument, wrong } from '../arguments.ts';
import { qlessQueues, reqlessConfig } from '../config.ts';
import { jobsToJson } from '../qless-job.ts';
import { type Commands, QLESS_COMMANDS } from './qless-commands.ts';
import { allCounts, countsIn, peekJobs } from './queue-commands.ts';
import { patternCommands } from './queue-patterns.ts';
import { recurAtInterval } from './recur-commands.ts';
import { throttleCommands } from './throttle-commands.ts';
import { allWorkers, jobsOfWorker } from './worker-commands.ts';

/** The same command of qless, after these arguments. */
function same(name: string, ...first: Arguments): Command {
  const command = QLESS_COMMANDS[name];
  if (command === undefined) throw new Error(`qless has no command ${name}`);
  return (call, args) => command(call, [...first, ...args]);
}

export function reqlessCommands(): Commands {
  return {
    'config.getAll': (call) => reqlessConfig(call),
    'failureGroups.counts': (call, page) => same('failed', undefined)(call, page),
    ...jobNames(),
    'jobs.completed': same('jobs', 'complete'),
    'jobs.failedByGroup': (call, [group, ...page]) =>
      same('failed')(call, [textArgument(group, 'Failed', 'group'), ...page]),
    'jobs.tagged': same('tag', 'get'),
    'jobs.tracked': (call) => same('track')(call, []),
    ...queueNames(),
    ...patternCommands,
    'recurringJob.cancel': same('unrecur'),
    'recurringJob.get': same('recur.get'),
    'recurringJob.addTag': same('recur.tag'),
    'recurringJob.removeTag': same('recur.untag'),
    'recurringJob.update': same('recur.update'),
    'tags.top': same('tag', 'top'),
    ...throttleCommands,
    'worker.forget': same('worker.deregister'),
    'worker.jobs': (call, [worker]) => jobsOfWorker(call, textArgument(worker, 'Workers', 'worker')),
    'workers.counts': (call) => allWorkers(call),
  };
}

function jobNames(): Commands {
  return {
    'job.addDependency': (call, [jid, ...jids]) => same('depends')(call, [jid, 'on', ...jids]),
    'job.removeDependency': (call, [jid, ...jids]) => same('depends')(call, [jid, 'off', ...jids]),
    'job.addTag': same('tag', 'add'),
    'job.removeTag': same('tag', 'remove'),
    'job.cancel': same('cancel'),
    'job.complete': (call, [jid, worker, queue, data]) => same('complete')(call, [jid, worker, queue, data]),
    'job.completeAndRequeue': (call, [jid, worker, queue, data, next, ...rest]) =>
      same('complete')(call, [jid, worker, queue, data, 'next', next, ...rest]),
    'job.fail': same('fail'),
    'job.get': same('get'),
    'job.getMulti': same('multiget'),
    'job.heartbeat': same('heartbeat'),
    'job.log': same('log'),
    'job.requeue': same('requeue'),
    'job.retry': same('retry'),
    'job.setPriority': same('priority'),
    'job.timeout': same('timeout'),
    'job.track': same('track', 'track'),
    'job.untrack': same('track', 'untrack'),
  };
}

function queueNames(): Commands {
  return {
    'queue.counts': (call, [queue]) =>
      queue === undefined ? allCounts(call) : countsIn(call, queueArgument(queue, 'queue.counts')),
    'queue.jobsByState': (call, [state, ...rest]) => {
      if (state === 'complete') wrong(`Jobs(): Unknown type "${asText(state)}"`);
      return same('jobs')(call, [state, ...rest]);
    },
    'queue.length': same('length'),
    'queue.pause': same('pause'),
    'queue.peek': async (call, [queue, offset, count]) =>
      jobsToJson(call, await peekJobs(call, { queue, offset, count })),
    'queue.pop': same('pop'),
    'queue.put': same('put'),
    'queue.recurAtInterval': (call, args) => recurAtInterval(call, args),
    'queue.stats': same('stats'),
    'queue.unfail': same('unfail'),
    'queue.unpause': same('unpause'),
    'queues.counts': (call) => allCounts(call),
    'queues.names': (call) => qlessQueues(call),
  };
}
