/**
 * The attempts of a job whose files lie on several nodes: each is shown as the node tells that has it, or a copy of it, and
 * with who that is. A node that does not answer soon leaves its attempts as the store alone knows them.
 */
import type { Readable } from 'node:stream';
import type { ProvenEntry } from '../../node/cluster/node-entry.ts';
import { nodeOfWorker } from '../../node/cluster/node-entry.ts';
import type { AttemptHolder, AttemptView, PlacedAttempt } from '../../wire/attempt-view.ts';
import { jsonIn } from '../http/read-json.ts';
import type { Asking } from './from-other-node.ts';
import { nodeOf } from './node-of.ts';

const SOON_MS = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;
/** Of a job that went round many nodes, the last ones it was on. */
const MOST_ASKED = 8;

export async function attemptsEverywhere(
  call: Asking,
  { attempts }: { readonly attempts: readonly AttemptView[] },
): Promise<readonly PlacedAttempt[]> {
  const { context, who } = call;
  if (!context.store.isShared || who.node !== undefined) return attempts.map((each) => ({ ...each, node: null }));
  const told = await askHolders(call, attempts);
  return Promise.all(
    attempts.map(async (own) => {
      const better = own.script === null ? told.find(({ attempt }) => attempt === own.attempt) : undefined;
      return { ...(better ?? own), isRunning: own.isRunning, node: await holder(call, own) };
    }),
  );
}

/** What others tell of those that are not here. */
async function askHolders(call: Asking, attempts: readonly AttemptView[]): Promise<readonly AttemptView[]> {
  const { others } = nodeOf(call.context);
  const missing = attempts.filter(({ script }) => script === null).map(({ worker }) => nodeOfWorker(worker));
  const asked = [...new Set(missing)].filter((id) => id !== null && id !== others.id).slice(-MOST_ASKED);
  const told = await Promise.all(asked.map((id) => askFor(call, id ?? '')));
  return told.flat().filter(({ script }) => script !== null);
}

/** The node itself, or when it does not answer, everybody who may have a copy. */
async function askFor(call: Asking, id: string): Promise<readonly AttemptView[]> {
  const present = await nodeOf(call.context).others.present();
  const itself = present.filter((entry) => entry.id === id);
  const told = await askEach(call, itself);
  return told.length > 0
    ? told
    : askEach(
        call,
        present.filter((entry) => entry.id !== id),
      );
}

async function askEach(call: Asking, entries: readonly ProvenEntry[]): Promise<readonly AttemptView[]> {
  const { others } = nodeOf(call.context);
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(SOON_MS)]);
  const told = await Promise.all(
    entries.map(async (entry) => {
      const reply = await others.askOne(entry, { path: call.request.url ?? '', signal });
      return reply.ok ? attemptsIn(reply.body) : [];
    }),
  );
  return told.flat();
}

async function attemptsIn(body: Readable): Promise<readonly AttemptView[]> {
  const told = (await jsonIn(body, MOST_BYTES)) as { readonly attempts: readonly AttemptView[] } | null;
  return told?.attempts ?? [];
}

async function holder(call: Asking, { worker }: AttemptView): Promise<AttemptHolder | null> {
  const id = nodeOfWorker(worker);
  if (id === null) return null;
  const { others } = nodeOf(call.context);
  const about = id === others.id ? { name: 'this node', goneAt: null } : await others.about(id);
  return { id, name: about?.name ?? null, goneAt: about?.goneAt ?? null };
}
