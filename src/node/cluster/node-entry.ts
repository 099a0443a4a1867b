/**
 * The record of a node, which the node renews. No decision about a job depends on it; it tells which node to ask for
 * files, and which nodes are present or gone.
 *
 *     up ⇄ draining        up, draining ──stop──▶ stopped        any ──no renewal──▶ gone ──forget, or a week──▶ not listed
 */
import type { Store } from '../../core/ports/store.ts';
import type { NodeEntry, NodeState } from '../../wire/node-view.ts';

export const NODE_RECORD = 'node';
export const NODE_ORDER_RECORD = 'node-order';
export const RENEW_EVERY_MS = 10_000;
/** Two renewals may fail before a node counts as gone. */
const GONE_AFTER_MS = 35_000;
/** On a shared store, a node that is gone is listed this long, since it may hold the only copy of files. */
const LISTED_MS = 7 * 86_400_000;
export const MAX_NODES = 500;

/** Only nodes can create a proof: they share a secret (node-secret.ts). */
export interface ProvenEntry extends NodeEntry {
  readonly proof: string;
}

/** How long a node's record is kept after its last renewal. */
export const retentionMs = (store: Store): number => (store.isShared ? LISTED_MS : GONE_AFTER_MS);

export async function readEntries(store: Store): Promise<readonly ProvenEntry[]> {
  const records = await store.records.list({ kind: NODE_RECORD, limit: MAX_NODES });
  return records.map(({ value }) => JSON.parse(value) as ProvenEntry);
}

/** `now` is the store's time. */
export function stateOf({ stoppedAt, seenAt, isDraining }: NodeEntry, now: number): NodeState {
  if (stoppedAt !== null) return 'stopped';
  if (now - seenAt > GONE_AFTER_MS) return 'gone';
  return isDraining ? 'draining' : 'up';
}

export const isPresent = (entry: NodeEntry, now: number): boolean => ['up', 'draining'].includes(stateOf(entry, now));

/** Worker ids begin with the node's id, so that the history of a job shows which node has its log. */
export function workerIds(node: string, newId: () => string): () => string {
  return () => `${node}.${newId()}`;
}

const NODE_OF_WORKER = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

/** Returns null for a library worker, which keeps no files. */
export function nodeOfWorker(worker: string | null): string | null {
  return NODE_OF_WORKER.exec(worker ?? '')?.[1] ?? null;
}
