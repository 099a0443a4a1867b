/**
 * What a node tells of itself, and how the others see it: a record that it renews. Nobody decides anything about a job
 * by it; it says whom to ask for files, and shows people who is there and who is gone.
 *
 *     up ⇄ draining        up, draining ──stop──▶ stopped        any ──no renewal──▶ gone ──forget, or a week──▶ not shown
 */
import type { Store } from '../../core/ports/store.ts';
import type { NodeEntry, NodeState } from '../../wire/node-view.ts';

export const NODE_RECORD = 'node';
export const NODE_ORDER_RECORD = 'node-order';
export const RENEW_EVERY_MS = 10_000;
/** Two renewals may fail before a node counts as gone. */
const GONE_AFTER_MS = 35_000;
/** Where nodes share a store, one that is gone is shown for so long, since it may hold what nobody else has. */
const SHOWN_MS = 7 * 86_400_000;
export const MOST_NODES = 500;

/** Made by a node alone: it knows the secret that the nodes of a store share (node-secret.ts). */
export interface ProvenEntry extends NodeEntry {
  readonly proof: string;
}

/** How long the record of a node is kept after its last renewal. */
export const keptFor = (store: Store): number => (store.isShared ? SHOWN_MS : GONE_AFTER_MS);

export async function readEntries(store: Store): Promise<readonly ProvenEntry[]> {
  const records = await store.records.list({ kind: NODE_RECORD, limit: MOST_NODES });
  return records.map(({ value }) => JSON.parse(value) as ProvenEntry);
}

/** `now` is the store's time. */
export function stateOf({ stoppedAt, seenAt, isDraining }: NodeEntry, now: number): NodeState {
  if (stoppedAt !== null) return 'stopped';
  if (now - seenAt > GONE_AFTER_MS) return 'gone';
  return isDraining ? 'draining' : 'up';
}

export const isThere = (entry: NodeEntry, now: number): boolean => ['up', 'draining'].includes(stateOf(entry, now));

/** The ids of a node's workers begin with its own, so that the history of a job tells who has its log. */
export function workerIds(node: string, newId: () => string): () => string {
  return () => `${node}.${newId()}`;
}

const NODE_OF_WORKER = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

/** Null for a worker of a program, which keeps no files. */
export function nodeOfWorker(worker: string | null): string | null {
  return NODE_OF_WORKER.exec(worker ?? '')?.[1] ?? null;
}
