/** Queues as the API shows them. A queue exists if it has settings, jobs, or a file on this node. */
import type { QueueCounts } from '../../core/ports/job-store.ts';
import { refuse } from '../../core/ports/refusal.ts';
import { isDeleted, totalJobs } from '../../core/settings/delete-queue.ts';
import type { SettingLayers } from '../../core/settings/global-settings.ts';
import { SETTING_NAMES, sourceOf } from '../../core/settings/global-settings.ts';
import type { SetSettings } from '../../core/settings/settings.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD, settingsIn, settingsOf } from '../../core/settings/settings.ts';
import type { QueueView } from '../../wire/views.ts';
import { RequestRefused, refusedReply } from '../http/problem.ts';
import type { ServerContext } from './context.ts';

const PAGE = 500;

export async function allQueues(context: ServerContext): Promise<readonly QueueView[]> {
  const [set, counted] = await Promise.all([allSettings(context), context.store.jobs.count()]);
  const problems = context.node?.queues() ?? new Map<string, string | null>();
  // A store may still count a queue that has no jobs left.
  const counts = new Map(counted.filter((each) => totalJobs(each) > 0).map((each) => [each.queue, each]));
  const shared = set.get(GLOBAL_SETTINGS_KEY);
  const named = [...set.keys()].filter((key) => key !== GLOBAL_SETTINGS_KEY);
  const names = [...new Set([...named, ...counts.keys(), ...problems.keys()])].sort();
  return names.map((name) =>
    view(name, {
      layers: { own: set.get(name), shared },
      counts: counts.get(name) ?? noJobs(name),
      problem: problems.get(name) ?? null,
    }),
  );
}

/** Returns the queue, or throws a 404 problem. */
export async function oneQueue(context: ServerContext, name: string): Promise<QueueView> {
  const { store, node } = context;
  const [layers, [counts = noJobs(name)]] = await Promise.all([
    context.settings.layers(name),
    store.jobs.count([name]),
  ]);
  const problem = node?.queues().get(name);
  const isSet = layers.own !== undefined && !isDeleted(layers.own);
  if (!isSet && problem === undefined && totalJobs(counts) === 0) {
    const { refusal } = refuse('not-found', `queue ${name}`);
    throw new RequestRefused(refusedReply(refusal), refusal.message);
  }
  return view(name, { layers, counts, problem: problem ?? null });
}

interface QueueSource {
  readonly layers: SettingLayers;
  readonly counts: QueueCounts;
  readonly problem: string | null;
}

function view(name: string, { layers, counts, problem }: QueueSource): QueueView {
  const settings = settingsOf(layers.own, layers.shared);
  const from = Object.fromEntries(SETTING_NAMES.map((each) => [each, sourceOf(each, layers)])) as QueueView['from'];
  return { name, problem, counts, settings: { ...settings, env: Object.keys(settings.env) }, from };
}

async function allSettings({ store }: ServerContext): Promise<ReadonlyMap<string, SetSettings | undefined>> {
  const found = new Map<string, SetSettings | undefined>();
  for (let after: string | undefined; ; ) {
    const page = await store.records.list({ kind: QUEUE_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    for (const record of page) {
      const set = settingsIn(record);
      if (!isDeleted(set)) found.set(record.key, set);
    }
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}

export function noJobs(queue: string): QueueCounts {
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
