/**
 * What a look at many running jobs shows of each: its last line and what it uses. From this node's files, or as the node
 * tells that runs it: one call to each node whatever the number of jobs, good for a second.
 *
 * A node that does not answer soon leaves its jobs without a glance, and is not asked again for a while: nobody waits for
 * it twice.
 */
import { checked } from '../../core/input/check.ts';
import type { Glance } from '../../node/attempts/attempt-reader.ts';
import { MOST_NODES, nodeOfWorker } from '../../node/cluster/node-entry.ts';
import type { OtherNodes } from '../../node/cluster/other-nodes.ts';
import type { JobView } from '../../wire/job-view.ts';
import type { RunningSummary } from '../../wire/overview.ts';
import { glances, MOST_GLANCES } from '../../wire/overview.ts';
import { jsonIn } from '../http/read-json.ts';
import type { NodeFace, ServerContext } from './context.ts';

const SOON_MS = 1_500;
const FRESH_MS = 1_000;
const AWAY_MS = 5_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** Points of a sparkline. */
const POINTS = 60;
const LINE_LENGTH = 500;

/** By the ids of the jobs. One of which nothing is known is not in it. */
export async function glancesOf(
  { store, node }: ServerContext,
  jobs: readonly JobView[],
): Promise<ReadonlyMap<string, RunningSummary>> {
  if (node === null) return new Map();
  const { others } = node;
  const holderOf = (job: JobView): string =>
    (store.isShared ? nodeOfWorker(job.lease?.worker ?? null) : null) ?? others.id;
  const own = jobs.filter((job) => holderOf(job) === others.id);
  const away = [...new Set(jobs.map(holderOf))].filter((id) => id !== others.id);
  const seen = await Promise.all([
    Promise.all(own.map((job) => glanceHere(node, job))),
    ...away.map((id) => toldBy(others, id)),
  ]);
  // Of another attempt than the one that is shown nothing is told.
  const attempts = new Map(jobs.map(({ id, attempt }) => [id, attempt]));
  const fitting = seen.flat().filter(({ id, attempt }) => attempts.get(id) === attempt);
  return new Map(fitting.map((glance) => [glance.id, glance]));
}

/** Of all scripts that run here. */
export async function glancesHere(node: NodeFace): Promise<readonly RunningSummary[]> {
  return Promise.all((await node.attempts.running(MOST_GLANCES)).map((which) => glanceHere(node, which)));
}

async function glanceHere(
  { attempts }: NodeFace,
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

/** Processor seconds between two samples, as a share of one core. */
function samplesOf({ samples }: Glance['usage']): RunningSummary['samples'] {
  const last = samples.slice(-POINTS - 1);
  return last.slice(1).map(({ at, cpuSeconds, rssBytes }, place) => {
    const before = last[place];
    const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
    const cpuPercent = seconds <= 0 ? 0 : ((cpuSeconds - (before?.cpuSeconds ?? 0)) / seconds) * 100;
    return { at, cpuPercent: Math.max(0, cpuPercent), rssBytes };
  });
}

interface Told {
  readonly glances: Promise<readonly RunningSummary[]>;
  /** By the monotonic clock, until when it is good. */
  until: number;
}

const known = new WeakMap<OtherNodes, Map<string, Told>>();

function toldBy(others: OtherNodes, id: string): Promise<readonly RunningSummary[]> {
  const nodes = known.get(others) ?? new Map<string, Told>();
  known.set(others, nodes);
  const found = nodes.get(id);
  if (found !== undefined && performance.now() < found.until) return found.glances;
  if (nodes.size >= MOST_NODES) nodes.clear();
  const asked = ask(others, id);
  // While it is under way everybody waits for the same answer.
  const told: Told = { glances: asked.then((answer) => answer ?? []), until: Number.POSITIVE_INFINITY };
  nodes.set(id, told);
  void asked.then((answer) => (told.until = performance.now() + (answer === null ? AWAY_MS : FRESH_MS)));
  return told.glances;
}

/** Null: it does not answer, or not so that it could be understood. Never throws. */
async function ask(others: OtherNodes, id: string): Promise<readonly RunningSummary[] | null> {
  try {
    const entry = (await others.present()).find((each) => each.id === id);
    if (entry === undefined) return null;
    const reply = await others.askOne(entry, { path: '/api/running/here', signal: AbortSignal.timeout(SOON_MS) });
    if (!reply.ok) return null;
    return checked('the answer of a node', await jsonIn(reply.body, MOST_BYTES), glances).glances;
  } catch {
    return null;
  }
}
