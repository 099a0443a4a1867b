/** Lists the nodes of a store, and drains, resumes or forgets one. */
import type { Refused } from '../../core/ports/refusal.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import type { NodeView } from '../../wire/node-view.ts';
import type { ProvenEntry } from './node-entry.ts';
import { isPresent, NODE_ORDER_RECORD, NODE_RECORD, nodeOfWorker, readEntries, stateOf } from './node-entry.ts';

/** Lists present nodes first, then by name. `now` is the store's time. */
export async function listNodes(store: Store, now: number): Promise<readonly NodeView[]> {
  const [entries, workers] = await Promise.all([readEntries(store), store.jobs.workers()]);
  const views = entries.map((entry): NodeView => {
    const held = workers.filter(({ id }) => nodeOfWorker(id) === entry.id).flatMap(({ running }) => running);
    return viewOf(entry, held, now);
  });
  return views.sort((a, b) => Number(b.goneAt === null) - Number(a.goneAt === null) || (a.name < b.name ? -1 : 1));
}

function viewOf({ proof: _proof, ...entry }: ProvenEntry, held: readonly string[], now: number): NodeView {
  const goneAt = isPresent(entry, now) ? null : (entry.stoppedAt ?? entry.seenAt);
  return { ...entry, state: stateOf(entry, now), goneAt, held };
}

export type FoundNode = { readonly ok: true; readonly node: NodeView } | Refused;

/** Finds a node by its id, a prefix of it, or its name if unique. */
export function pickNode(nodes: readonly NodeView[], key: string): FoundNode {
  const [exact] = nodes.filter(({ id }) => id === key);
  const named = nodes.filter(({ name }) => name === key);
  const prefixed = nodes.filter(({ id }) => key.length >= 4 && id.startsWith(key));
  const found = exact === undefined ? (named.length > 0 ? named : prefixed) : [exact];
  const [node] = found;
  if (node === undefined) return refuse('not-found', `node ${key}`);
  if (found.length === 1) return { ok: true, node };
  const message = `${found.length} nodes are named ${key}; use an id: ${found.map(({ id }) => id).join(', ')}`;
  return { ok: false, refusal: { code: 'wrong-state', message } };
}

export interface NodeOrder {
  readonly isDraining: boolean;
}

/** The node polls for this every two seconds. The order survives a restart. */
export async function orderDrain(store: Store, id: string, order: NodeOrder): Promise<void> {
  if (order.isDraining) await store.records.put({ kind: NODE_ORDER_RECORD, key: id, value: JSON.stringify(order) });
  else await store.records.delete(NODE_ORDER_RECORD, id);
}

export async function readOrder(store: Store, id: string): Promise<NodeOrder> {
  const record = await store.records.get(NODE_ORDER_RECORD, id);
  return record === null ? { isDraining: false } : (JSON.parse(record.value) as NodeOrder);
}

/** Forgets a node that is not present: files that only it has count as lost from then on. */
export async function forgetNode(
  store: Store,
  { id, name, goneAt }: NodeView,
): Promise<{ readonly ok: true } | Refused> {
  if (goneAt === null) {
    const message = `node ${name} is running: stop it first`;
    return { ok: false, refusal: { code: 'wrong-state', message } };
  }
  await orderDrain(store, id, { isDraining: false });
  await store.records.delete(NODE_RECORD, id);
  return { ok: true };
}
