/** Finding jobs: by id, by state, by failure, by tag; and those that somebody tracks. */
import { checked, listOf } from '../../core/input/check.ts';
import type { Job } from '../../core/job/job.ts';
import { tag as tagCheck } from '../../core/job/names.ts';
import { trackedJobs } from '../../core/job/tracked-jobs.ts';
import type { Arguments, Call, Command, Span } from './arguments.ts';
import { own, queueArgument, said, span, textArgument, wrong } from './arguments.ts';
import { EVERY, idsOf, jobsOf } from './pages.ts';
import { must } from './put-command.ts';
import { findJob, jobsToJson, jobToJson, needJob, stateOf, tagsOf } from './qless-job.ts';
import { recurringIn } from './recur-commands.ts';

export const lookCommands: Readonly<Record<string, Command>> = {
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
    if (state === 'complete') return idsOf(await jobsOf(call, { state: 'done' }, span(rest[0], rest[1], 'Jobs')));
    const queue = queueArgument(rest[0], 'Jobs');
    const page = span(rest[1], rest[2], 'Jobs');
    if (state !== 'recurring') return idsOf(await jobsIn(call, queue, said(state), page));
    const names = (await recurringIn(call, queue)).map(({ name }) => name);
    return names.slice(page.offset, page.offset + page.count);
  },
  failed: async (call, [group, ...rest]) => {
    if (group === undefined) return failedGroups(call);
    const jobs = await jobsOf(call, { state: 'failed', group: textArgument(group, 'Failed', 'group') }, EVERY);
    return totalAnd(idsOf(jobs), rest);
  },
  tag: async (call, [action, ...rest]) => (own(TAGGING, action) ?? unknownTagging)(call, rest),
  track: async (call, [action, jid]) => {
    if (action === undefined) return tracked(call);
    if (action !== 'track' && action !== 'untrack') return wrong(`Track(): Unknown action "${said(action)}"`);
    const id = textArgument(jid, 'Track', 'jid');
    if (action === 'track') await needJob(call, id, 'Track');
    return (await call.longhaul[action](id)).ok;
  },
};

/** In which of Longhaul's states jobs of each of qless's are. */
const STATES = { running: 'running', stalled: 'running', scheduled: 'waiting', depends: 'waiting' } as const;

async function jobsIn(call: Call, queue: string, state: string, page: Span): Promise<readonly Job[]> {
  if (state === 'throttled') return jobsOf(call, { queue, label: state }, page);
  const among = own(STATES, state) ?? wrong(`Jobs(): Unknown type "${state}"`);
  return jobsOf(call, { queue, state: among }, page, (job) => stateOf(job, call.nowMs) === state);
}

function totalAnd(jids: readonly string[], [offset, count]: Arguments): { total: number; jobs: readonly string[] } {
  const page = span(offset, count, 'Failed');
  return { total: jids.length, jobs: jids.slice(page.offset, page.offset + page.count) };
}

async function failedGroups({ longhaul }: Call): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  for (const { group, count } of await longhaul.store.jobs.insight({ kind: 'failures' }))
    sums[group] = (sums[group] ?? 0) + count;
  return sums;
}

const TAGGING: Readonly<Record<string, Command>> = {
  add: async (call, [jid, ...tags]) => retag(call, jid, (before) => [...new Set([...before, ...tags.map(said)])]),
  remove: async (call, [jid, ...tags]) => retag(call, jid, (before) => before.filter((tag) => !tags.includes(tag))),
  get: async (call, [tag, offset, count]) => {
    const jobs = await jobsOf(call, { tag: textArgument(tag, 'Tag', 'tag') }, EVERY);
    const there = jobs.filter(({ state }) => state !== 'cancelled');
    return totalAnd(idsOf(there), [offset, count]);
  },
  top: async (call, [offset, count]) => {
    const page = span(offset, count, 'Tag');
    const found = await call.longhaul.store.jobs.insight({ kind: 'tags', limit: MOST_TAGS });
    const several = found.filter(({ tag, jobs }) => jobs > 1 && !tag.startsWith('schedule:'));
    return several.slice(page.offset, page.offset + page.count).map(({ tag }) => tag);
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
  const own = job.tags.filter((tag) => !tagsOf(job).includes(tag));
  const tags = checked('tags', change(tagsOf(job)), listOf(tagCheck, 100));
  must('Tag', await call.longhaul.store.jobs.change([{ id: job.id, tags: [...tags, ...own] }]));
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
