/**
 * Summaries of running jobs: the last line of output and the resource usage of each. They come from this node's files, or
 * from the node that runs the job: one call per node whatever the number of jobs, cached for a second.
 *
 * Jobs of a node that does not answer in time have no summary. The node is not called again for a while, so that only one
 * request waits for it.
 */
import { checked } from '../../core/input/check.ts';
import type { AttemptSummary } from '../../node/attempts/attempt-reader.ts';
import { MAX_NODES, nodeOfWorker } from '../../node/cluster/node-entry.ts';
import type { OtherNodes } from '../../node/cluster/other-nodes.ts';
import type { JobView } from '../../wire/job-view.ts';
import type { RunningSummary } from '../../wire/overview.ts';
import { MAX_SUMMARIES, runningSummaries } from '../../wire/overview.ts';
import { jsonIn } from '../http/read-json.ts';
import type { NodeServices, ServerContext } from './context.ts';

const TIMEOUT_MS = 1_500;
const FRESH_MS = 1_000;
const AWAY_MS = 5_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Points of a sparkline. */
const POINTS = 60;
const LINE_LENGTH = 500;

/** Returns summaries by job id; a job without a summary is absent. */
export async function summariesOf(
  { store, node }: ServerContext,
  jobs: readonly JobView[],
): Promise<ReadonlyMap<string, RunningSummary>> {
  if (node === null) return new Map();
  const { others } = node;
  const holderOf = (job: JobView): string =>
    (store.isShared ? nodeOfWorker(job.lease?.worker ?? null) : null) ?? others.id;
  const own = jobs.filter((job) => holderOf(job) === others.id);
  const remote = [...new Set(jobs.map(holderOf))].filter((id) => id !== others.id);
  const found = await Promise.all([
    Promise.all(own.map((job) => localSummary(node, job))),
    ...remote.map((id) => summariesFrom(others, id)),
  ]);
  // A summary of another attempt than the shown one is dropped.
  const attempts = new Map(jobs.map(({ id, attempt }) => [id, attempt]));
  const current = found.flat().filter(({ id, attempt }) => attempts.get(id) === attempt);
  return new Map(current.map((summary) => [summary.id, summary]));
}

/** Returns the summaries of all scripts that run on this node. */
export async function localSummaries(node: NodeServices): Promise<readonly RunningSummary[]> {
  return Promise.all((await node.attempts.running(MAX_SUMMARIES)).map((which) => localSummary(node, which)));
}

async function localSummary(
  { attempts }: NodeServices,
  { id, attempt }: { readonly id: string; readonly attempt: number },
): Promise<RunningSummary> {
  const { last, usage } = await attempts.glance(id, attempt);
  return {
    id,
    attempt,
    lastLine: last?.text.slice(-LINE_LENGTH) ?? null,
    lastOutputAt: last?.at ?? null,
    samples: samplesOf(usage),
  };
}

/** Computes the CPU time between two samples as a percentage of one core. */
function samplesOf({ samples }: AttemptSummary['usage']): RunningSummary['samples'] {
  const last = samples.slice(-POINTS - 1);
  return last.slice(1).map(({ at, cpuSeconds, rssBytes }, index) => {
    const before = last[index];
    const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
    const cpuPercent = seconds <= 0 ? 0 : ((cpuSeconds - (before?.cpuSeconds ?? 0)) / seconds) * 100;
    return { at, cpuPercent: Math.max(0, cpuPercent), rssBytes };
  });
}

interface Cached {
  readonly summaries: Promise<readonly RunningSummary[]>;
  /** Expiry by the monotonic clock. */
  until: number;
}

const cache = new WeakMap<OtherNodes, Map<string, Cached>>();

function summariesFrom(others: OtherNodes, id: string): Promise<readonly RunningSummary[]> {
  const nodes = cache.get(others) ?? new Map<string, Cached>();
  cache.set(others, nodes);
  const found = nodes.get(id);
  if (found !== undefined && performance.now() < found.until) return found.summaries;
  if (nodes.size >= MAX_NODES) nodes.clear();
  const fetched = fetchSummaries(others, id);
  // While the call is open, all requests share its answer.
  const entry: Cached = { summaries: fetched.then((answer) => answer ?? []), until: Number.POSITIVE_INFINITY };
  nodes.set(id, entry);
  void fetched.then((answer) => (entry.until = performance.now() + (answer === null ? AWAY_MS : FRESH_MS)));
  return entry.summaries;
}

/** Returns null if the node does not answer, or its answer is malformed. Never throws. */
async function fetchSummaries(others: OtherNodes, id: string): Promise<readonly RunningSummary[] | null> {
  try {
    const entry = (await others.present()).find((each) => each.id === id);
    if (entry === undefined) return null;
    const reply = await others.askOne(entry, { path: '/api/running/here', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!reply.ok) return null;
    return checked('the answer of a node', await jsonIn(reply.body, MAX_BYTES), runningSummaries).summaries;
  } catch {
    return null;
  }
}
