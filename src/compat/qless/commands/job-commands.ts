/** Commands for a job in any state: its priority, its dependencies, a text for its history, and `cancel`. */
import { checked } from '../../../core/input/check.ts';
import { MAX_NOTE_LENGTH } from '../../../core/job/history.ts';
import type { Job } from '../../../core/job/job.ts';
import { isBlocked } from '../../../core/job/job.ts';
import { priority as priorityCheck } from '../../../core/settings/policy-input.ts';
import type { Call, Command } from '../arguments.ts';
import { jsonArgument, numberArgument, raise, textArgument, wrong } from '../arguments.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';
import { toNote } from '../qless-history.ts';
import { findJob, flipped, needJob, stateOf } from '../qless-job.ts';
import { must, openParents, refused } from './put-command.ts';

type Details = Readonly<Record<string, unknown>>;

export const jobCommands: Readonly<Record<string, Command>> = {
  priority: async (call, [jid, priority]) => {
    const given = numberArgument(priority, 'Priority', 'priority');
    const job = await needJob(call, textArgument(jid, 'Priority', 'jid'), 'Priority');
    const urgency = checked('priority', flipped(given), priorityCheck);
    must('Priority', await call.longhaul.store.jobs.change([{ id: job.id, priority: urgency }]));
    return given;
  },
  log: async (call, [jid, message, data]) => {
    const job = await needJob(call, textArgument(jid, 'Log', 'jid'), 'Log');
    const what = textArgument(message, 'Log', 'message');
    const note = toNote({ what, details: JSON.parse(jsonArgument(data ?? {}, 'Log', 'data')) as Details });
    if (note.length > MAX_NOTE_LENGTH) wrong(`Log(): more than ${MAX_NOTE_LENGTH} characters of history`);
    must('Log', await call.longhaul.store.jobs.change([{ id: job.id, note }]));
    return null;
  },
  depends: async (call, [jid, action, ...jids]) => {
    const id = textArgument(jid, 'Depends', 'jid');
    if (action !== 'on' && action !== 'off') return wrong('Depends(): Argument "command" must be "on" or "off"');
    const job = await findJob(call, id);
    if (job === null || !isBlocked(job)) {
      const state = job === null ? 'false' : stateOf(job, call.nowMs);
      return raise(`Depends(): Job ${id} not in the depends state: ${state}`);
    }
    const ids = jids.map((each) => textArgument(each, 'Depends', 'jid'));
    const dependsOn = action === 'on' ? { add: await openParents(call, ids) } : { remove: await named(call, job, ids) };
    must('Depends', await call.longhaul.store.jobs.change([{ id: job.id, dependsOn }]));
    return true;
  },
  cancel: async (call, jids) =>
    cancelAll(
      call,
      jids.map((jid) => textArgument(jid, 'Cancel', 'jid')),
    ),
};

async function named(call: Call, job: Job, ids: readonly string[]): Promise<readonly string[]> {
  return ids.includes('all') ? idsOf(await jobsOf(call, { child: job.id }, EVERY)) : ids;
}

/** Cancels all of them or none: jobs that wait for one of them must be among them. */
async function cancelAll(call: Call, jids: readonly string[]): Promise<readonly string[]> {
  const jobs = (await Promise.all(jids.map((jid) => findJob(call, jid)))).filter((job) => job !== null);
  const meant = new Set(idsOf(jobs));
  for (const { id, dependents } of jobs) {
    const waiting = dependents === 0 ? [] : await jobsOf(call, { parent: id }, EVERY);
    const left = waiting.find((child) => isBlocked(child) && !meant.has(child.id));
    if (left !== undefined) raise(`Cancel(): ${id} is a dependency of ${left.id} but is not mentioned to be canceled`);
  }
  for (const job of jobs) await cancelOne(call, job);
  return jids;
}

/**
 * A running job is taken from its worker: the layer releases it for the holder, and the cancel request ends it. A
 * canceled job has no tags and waits for no other job.
 */
async function cancelOne(call: Call, { id, state, tags }: Job): Promise<void> {
  const { jobs } = call.longhaul.store;
  if (state === 'done') return;
  if (state === 'failed') return must('Cancel', await jobs.delete([id]));
  const [answer] = await jobs.cancel([{ id, dependents: 'leave' }]);
  if (answer?.ok === false) refused('Cancel', answer);
  const [job] = await jobs.find([id]);
  if (job?.lease) await jobs.settle([{ id, token: job.lease.token, kind: 'release', reason: 'canceled' }]);
  if (tags.length > 0) must('Cancel', await jobs.change([{ id, tags: [] }]));
}
