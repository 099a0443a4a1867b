/** Queues as the API shows them. A queue is known when it has settings, jobs, or a file of this node's. */
import type { QueueCounts } from '../core/job-store.ts';
import { refuse } from '../core/refusal.ts';
import type { QueueSettings } from '../core/settings.ts';
import { QUEUE_RECORD, settingsOf } from '../core/settings.ts';
import type { QueueView } from '../wire/views.ts';
import type { ServerContext } from './context.ts';
import { RequestRefused, refusedReply } from './problem.ts';

const PAGE = 500;

export async function allQueues(context: ServerContext): Promise<readonly QueueView[]> {
  const [set, counted] = await Promise.all([allSettings(context), context.store.jobs.count()]);
  const problems = context.node?.queues() ?? new Map<string, string | null>();
  // A store may remember a queue that has nothing left.
  const counts = new Map(counted.filter((each) => total(each) > 0).map((each) => [each.queue, each]));
  const names = [...new Set([...set.keys(), ...counts.keys(), ...problems.keys()])].sort();
  return names.map((name) =>
    view(name, {
      settings: settingsOf(set.get(name)),
      counts: counts.get(name) ?? noJobs(name),
      problem: problems.get(name) ?? null,
    }),
  );
}

/** Throws the 404 when nothing knows it. */
export async function oneQueue(context: ServerContext, name: string): Promise<QueueView> {
  const { store, node } = context;
  const [record, [counts = noJobs(name)]] = await Promise.all([
    store.records.get(QUEUE_RECORD, name),
    store.jobs.count([name]),
  ]);
  const problem = node?.queues().get(name);
  if (record === null && problem === undefined && total(counts) === 0) {
    const { refusal } = refuse('not-found', `queue ${name}`);
    throw new RequestRefused(refusedReply(refusal), refusal.message);
  }
  const settings = settingsOf(record === null ? undefined : parse(record.value));
  return view(name, { settings, counts, problem: problem ?? null });
}

export function total({ draft, waiting, running, done, failed, cancelled }: QueueCounts): number {
  return draft + waiting + running + done + failed + cancelled;
}

interface Known {
  readonly settings: QueueSettings;
  readonly counts: QueueCounts;
  readonly problem: string | null;
}

function view(name: string, { settings, counts, problem }: Known): QueueView {
  return { name, problem, counts, settings: { ...settings, env: Object.keys(settings.env) } };
}

async function allSettings({ store }: ServerContext): Promise<ReadonlyMap<string, Partial<QueueSettings>>> {
  const found = new Map<string, Partial<QueueSettings>>();
  for (let after: string | undefined; ; ) {
    const page = await store.records.list({ kind: QUEUE_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    for (const { key, value } of page) found.set(key, parse(value));
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}

function parse(value: string): Partial<QueueSettings> {
  return JSON.parse(value) as Partial<QueueSettings>;
}

function noJobs(queue: string): QueueCounts {
  return {
    queue,
    draft: 0,
    waiting: 0,
    running: 0,
    done: 0,
    failed: 0,
    cancelled: 0,
    blocked: 0,
    scheduled: 0,
    relayed: 0,
  };
}
