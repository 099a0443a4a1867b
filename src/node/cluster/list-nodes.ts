/** The nodes of a store as people see them, and what can be told one: to drain, to go on, or that it will not come back. */
import type { Refused } from '../../core/ports/refusal.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import type { NodeView } from '../../wire/node-view.ts';
import type { ProvenEntry } from './node-entry.ts';
import { isThere, NODE_ORDER_RECORD, NODE_RECORD, nodeOfWorker, readEntries, stateOf } from './node-entry.ts';

/** `now` is the store's time. Those that are there come first, then by name. */
export async function listNodes(store: Store, now: number): Promise<readonly NodeView[]> {
  const [entries, workers] = await Promise.all([readEntries(store), store.jobs.workers()]);
  const views = entries.map((entry): NodeView => {
    const held = workers.filter(({ id }) => nodeOfWorker(id) === entry.id).flatMap(({ running }) => running);
    return viewOf(entry, held, now);
  });
  return views.sort((a, b) => Number(b.goneAt === null) - Number(a.goneAt === null) || (a.name < b.name ? -1 : 1));
}

function viewOf({ proof: _proof, ...entry }: ProvenEntry, held: readonly string[], now: number): NodeView {
  const goneAt = isThere(entry, now) ? null : (entry.stoppedAt ?? entry.seenAt);
  return { ...entry, state: stateOf(entry, now), goneAt, held };
}

export type FoundNode = { readonly ok: true; readonly node: NodeView } | Refused;

/** By its id, the beginning of it, or its name where only one has it. */
export function pickNode(nodes: readonly NodeView[], word: string): FoundNode {
  const [exact] = nodes.filter(({ id }) => id === word);
  const named = nodes.filter(({ name }) => name === word);
  const begun = nodes.filter(({ id }) => word.length >= 4 && id.startsWith(word));
  const found = exact === undefined ? (named.length > 0 ? named : begun) : [exact];
  const [node] = found;
  if (node === undefined) return refuse('not-found', `node ${word}`);
  if (found.length === 1) return { ok: true, node };
  const message = `${found.length} nodes are called ${word}; name one by its id: ${found.map(({ id }) => id).join(', ')}`;
  return { ok: false, refusal: { code: 'wrong-state', message } };
}

export interface NodeOrder {
  readonly isDraining: boolean;
}

/** The node looks every other second; it stays so over a restart. */
export async function orderDrain(store: Store, id: string, order: NodeOrder): Promise<void> {
  if (order.isDraining) await store.records.put({ kind: NODE_ORDER_RECORD, key: id, value: JSON.stringify(order) });
  else await store.records.delete(NODE_ORDER_RECORD, id);
}

export async function readOrder(store: Store, id: string): Promise<NodeOrder> {
  const record = await store.records.get(NODE_ORDER_RECORD, id);
  return record === null ? { isDraining: false } : (JSON.parse(record.value) as NodeOrder);
}

/** Only one that is not there: what it holds counts as lost from then on. */
export async function forgetNode(
  store: Store,
  { id, name, goneAt }: NodeView,
): Promise<{ readonly ok: true } | Refused> {
  if (goneAt === null) {
    const message = `node ${name} is there; stop it first`;
    return { ok: false, refusal: { code: 'wrong-state', message } };
  }
  await orderDrain(store, id, { isDraining: false });
  await store.records.delete(NODE_RECORD, id);
  return { ok: true };
}
