/** The nodes of a store as their registry records and the API show them. Types only. */

export interface NodeQueue {
  readonly queue: string;
  /** Why the node does not work this queue; null when it does. */
  readonly problem: string | null;
  readonly slots: number;
  readonly running: number;
}

/** What a node publishes about itself. */
export interface NodeEntry {
  readonly id: string;
  /** Display name: `name` in node.json, else the host. */
  readonly name: string;
  /** A different value for each start. */
  readonly epoch: string;
  readonly host: string;
  readonly pid: number;
  readonly url: string;
  /** Where its API answers other nodes, the likeliest first. */
  readonly addresses: readonly string[];
  /** Identifies the boot of a machine: only nodes of the same boot can use a loopback address. */
  readonly machine: string;
  readonly version: string;
  readonly startedAt: number;
  /** By the store's clock. */
  readonly seenAt: number;
  /** Null while it runs. */
  readonly stoppedAt: number | null;
  readonly isDraining: boolean;
  /** Its clock minus the store's: positive when the node is ahead. */
  readonly clockSkewMs: number;
  readonly queues: readonly NodeQueue[];
  readonly slots: number;
  readonly running: number;
  /** Load averages of the machine: one, five and fifteen minutes. */
  readonly load: readonly number[];
  readonly memory: { readonly total: number; readonly free: number; readonly rss: number };
  /** The disk of the data directory; null when it cannot be read. */
  readonly disk: { readonly total: number; readonly free: number } | null;
  /** How many jobs it has files of, and how many attachments; null before the first count. */
  readonly holds: { readonly jobs: number; readonly attachments: number } | null;
}

export type NodeState = 'up' | 'draining' | 'stopped' | 'gone';

export interface NodeView extends NodeEntry {
  readonly state: NodeState;
  /** When it stopped or went away; null while it is up. */
  readonly goneAt: number | null;
  /** The jobs whose leases its workers still hold. */
  readonly held: readonly string[];
}
