/**
 * The attempts of a job whose files are on several nodes. Each attempt comes from the node that has its files or a copy, and
 * names that node. If a node does not answer in time, its attempts have only what the store knows.
 */
import type { Readable } from 'node:stream';
import type { ProvenEntry } from '../../node/cluster/node-entry.ts';
import { nodeOfWorker } from '../../node/cluster/node-entry.ts';
import type { AttemptHolder, AttemptView, LocatedAttempt } from '../../wire/attempt-view.ts';
import { jsonIn } from '../http/read-json.ts';
import type { ForwardableCall } from './from-other-node.ts';
import { nodeOf } from './node-of.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The limit of nodes to ask: the last ones on which the job ran. */
const MAX_NODES = 8;

export async function clusterAttempts(
  call: ForwardableCall,
  { attempts }: { readonly attempts: readonly AttemptView[] },
): Promise<readonly LocatedAttempt[]> {
  const { context, principal } = call;
  if (!context.store.isShared || principal.node !== undefined) return attempts.map((each) => ({ ...each, node: null }));
  const remote = await remoteAttempts(call, attempts);
  return Promise.all(
    attempts.map(async (own) => {
      const better = own.script === null ? remote.find(({ attempt }) => attempt === own.attempt) : undefined;
      return { ...(better ?? own), isRunning: own.isRunning, node: await holder(call, own) };
    }),
  );
}

/** Fetches the attempts whose files are not on this node. */
async function remoteAttempts(
  call: ForwardableCall,
  attempts: readonly AttemptView[],
): Promise<readonly AttemptView[]> {
  const { others } = nodeOf(call.context);
  const missing = attempts.filter(({ script }) => script === null).map(({ worker }) => nodeOfWorker(worker));
  const holders = [...new Set(missing)].filter((id) => id !== null && id !== others.id).slice(-MAX_NODES);
  const fetched = await Promise.all(holders.map((id) => fetchFrom(call, id ?? '')));
  return fetched.flat().filter(({ script }) => script !== null);
}

/** Asks the node itself; if it does not answer, all other nodes, since any may have a copy. */
async function fetchFrom(call: ForwardableCall, id: string): Promise<readonly AttemptView[]> {
  const present = await nodeOf(call.context).others.present();
  const itself = present.filter((entry) => entry.id === id);
  const attempts = await fetchEach(call, itself);
  return attempts.length > 0
    ? attempts
    : fetchEach(
        call,
        present.filter((entry) => entry.id !== id),
      );
}

async function fetchEach(call: ForwardableCall, entries: readonly ProvenEntry[]): Promise<readonly AttemptView[]> {
  const { others } = nodeOf(call.context);
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answers = await Promise.all(
    entries.map(async (entry) => {
      const reply = await others.askOne(entry, { path: call.request.url ?? '', signal });
      return reply.ok ? attemptsIn(reply.body) : [];
    }),
  );
  return answers.flat();
}

async function attemptsIn(body: Readable): Promise<readonly AttemptView[]> {
  const answer = (await jsonIn(body, MAX_BYTES)) as { readonly attempts: readonly AttemptView[] } | null;
  return answer?.attempts ?? [];
}

async function holder(call: ForwardableCall, { worker }: AttemptView): Promise<AttemptHolder | null> {
  const id = nodeOfWorker(worker);
  if (id === null) return null;
  const { others } = nodeOf(call.context);
  const about = id === others.id ? { name: 'this node', goneAt: null } : await others.about(id);
  return { id, name: about?.name ?? null, goneAt: about?.goneAt ?? null };
}
