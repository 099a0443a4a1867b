/** Finds jobs: by id, by state, by failure, by tag; and tracked jobs. Lists have the order of qless. */
import { checked, listOf } from '../../../core/input/check.ts';
import { byText } from '../../../core/input/text-order.ts';
import type { Job, JobState } from '../../../core/job/job.ts';
import { tag as tagCheck } from '../../../core/job/names.ts';
import { trackedJobs } from '../../../core/job/tracked-jobs.ts';
import type { Arguments, Call, Command, Span } from '../arguments.ts';
import { asText, own, queueArgument, span, textArgument, wrong } from '../arguments.ts';
import { expiredLocks } from '../expired-locks.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';
import { findJob, jobsToJson, jobToJson, needJob, retagged, stateOf, tagsOf } from '../qless-job.ts';
import { recurringIn } from '../recurring-jobs.ts';
import { must } from './put-command.ts';

export const readCommands: Readonly<Record<string, Command>> = {
  get: async (call, [jid]) => {
    const job = await findJob(call, textArgument(jid, 'Get', 'jid'));
    return job === null ? null : jobToJson(call, job);
  },
  multiget: async (call, jids) => {
    const found = await Promise.all(jids.map((jid) => findJob(call, textArgument(jid, 'Multiget', 'jid'))));
    return jobsToJson(
      call,
      found.filter((job) => job !== null),
    );
  },
  jobs: async (call, [state, ...rest]) => {
    if (state === 'complete') return completedIds(call, span(rest[0], rest[1], 'Jobs'));
    return jobsByState(call, textArgument(state, 'Jobs', 'state'), rest);
  },
  failed: async (call, [group, ...rest]) => {
    const page = span(rest[0], rest[1], 'Failed');
    return group === undefined ? failedGroups(call) : failedIn(call, textArgument(group, 'Failed', 'group'), page);
  },
  tag: async (call, [action, ...rest]) => (own(TAGGING, action) ?? unknownTagging)(call, rest),
  track: async (call, [action, jid]) => {
    if (action === undefined) return tracked(call);
    if (action !== 'track' && action !== 'untrack') return wrong(`Track(): Unknown action "${asText(action)}"`);
    const id = textArgument(jid, 'Track', 'jid');
    if (action === 'track') await needJob(call, id, 'Track');
    // Lua answers how many entries changed: none if the job is tracked already.
    return (await call.longhaul[action](id)).ok ? 1 : 0;
  },
};

/** The latest completion first. */
async function completedIds(call: Call, page: Span): Promise<readonly string[]> {
  const done = await jobsOf(call, { state: 'done' }, EVERY);
  return pageOf(idsOf(done.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))), page);
}

const pageOf = (ids: readonly string[], { offset, count }: Span): readonly string[] =>
  ids.slice(offset, offset + count);

/** Longhaul's state for each of qless's, and the time by which qless orders its jobs, the earliest first. */
const STATES: Readonly<Record<string, { readonly state: JobState; at(job: Job): number }>> = {
  running: { state: 'running', at: ({ lease }) => lease?.until ?? 0 },
  scheduled: { state: 'waiting', at: ({ runAt }) => runAt },
  depends: { state: 'waiting', at: ({ createdAt }) => createdAt },
  throttled: { state: 'waiting', at: ({ createdAt }) => createdAt },
};

async function jobsByState(call: Call, state: string, [name, ...rest]: Arguments): Promise<readonly string[]> {
  const queue = queueArgument(name, 'Jobs');
  const page = span(rest[0], rest[1], 'Jobs');
  if (state === 'recurring')
    return pageOf(
      (await recurringIn(call, queue)).map((each) => each.name),
      page,
    );
  const expired = state === 'running' || state === 'stalled' ? await expiredLocks(call, queue) : [];
  if (state === 'stalled') return pageOf(idsOf(expired), page);
  const { state: among, at } = own(STATES, state) ?? wrong(`Jobs(): Unknown type "${state}"`);
  const label = state === 'throttled' ? { label: 'throttled' as const } : {};
  const isMeant = (job: Job): boolean => state === 'throttled' || stateOf(job, call.nowMs) === state;
  const jobs = await jobsOf(call, { queue, state: among, ...label }, EVERY, isMeant);
  const isExpired = new Set(idsOf(expired));
  const ordered = jobs.toSorted((a, b) => at(a) - at(b) || a.seq - b.seq);
  return pageOf(idsOf(ordered.filter(({ id }) => !isExpired.has(id))), page);
}

interface Listed {
  readonly total: number;
  readonly jobs: readonly string[];
}

function totalAnd(jids: readonly string[], page: Span): Listed {
  return { total: jids.length, jobs: pageOf(jids, page) };
}

/** The latest failure first. */
async function failedIn(call: Call, group: string, page: Span): Promise<Listed> {
  const failed = await jobsOf(call, { state: 'failed', group }, EVERY);
  return totalAnd(idsOf(failed.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0))), page);
}

async function failedGroups({ longhaul }: Call): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  for (const { group, count } of await longhaul.store.jobs.insight({ kind: 'failures' }))
    sums[group] = (sums[group] ?? 0) + count;
  return sums;
}

const TAGGING: Readonly<Record<string, Command>> = {
  add: async (call, [jid, ...tags]) => retag(call, jid, (before) => [...new Set([...before, ...tags.map(asText)])]),
  remove: async (call, [jid, ...tags]) => {
    const gone = tags.map(asText);
    return retag(call, jid, (before) => before.filter((tag) => !gone.includes(tag)));
  },
  get: async (call, [tag, offset, count]) => {
    const page = span(offset, count, 'Tag');
    const jobs = await jobsOf(call, { tag: textArgument(tag, 'Tag', 'tag') }, EVERY);
    const there = jobs.filter(({ state }) => state !== 'cancelled');
    return totalAnd(idsOf(there.toSorted((a, b) => a.createdAt - b.createdAt || byText(a.id, b.id))), page);
  },
  top: async (call, [offset, count]) => {
    const page = span(offset, count, 'Tag');
    const found = await call.longhaul.store.jobs.insight({ kind: 'tags', limit: MOST_TAGS });
    const several = found.filter(({ tag, jobs }) => jobs > 1 && !tag.startsWith('schedule:'));
    const ordered = several.toSorted((a, b) => b.jobs - a.jobs || byText(b.tag, a.tag));
    return pageOf(
      ordered.map(({ tag }) => tag),
      page,
    );
  },
};
const MOST_TAGS = 1_000;

const unknownTagging: Command = () => wrong('Tag(): First argument must be "add", "remove", "get" or "top"');

async function retag(
  call: Call,
  jid: unknown,
  change: (tags: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const job = await needJob(call, textArgument(jid, 'Tag', 'jid'), 'Tag');
  const tags = checked('tags', change(tagsOf(job)), listOf(tagCheck, 100));
  must('Tag', await call.longhaul.store.jobs.change([{ id: job.id, tags: retagged(job, tags) }]));
  return tags;
}

async function tracked(call: Call): Promise<Readonly<Record<string, unknown>>> {
  const marks = await trackedJobs(call.longhaul.store);
  const isThere = (job: { state: string } | null): boolean => job !== null && job.state !== 'cancelled';
  const jobs = marks.flatMap(({ job }) => (job !== null && isThere(job) ? [job] : []));
  return {
    jobs: await jobsToJson(call, jobs),
    expired: marks.filter(({ job }) => !isThere(job)).map(({ id }) => id),
  };
}
