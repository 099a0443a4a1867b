/**
 * This node's entry in the store: renewed while it lives, kept after its stop on a shared store, and signed with the
 * secret of the nodes. Also reads orders to this node.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../core/ports/store.ts';
import { bootIdentity } from '../../runner/process-tree/process-stat.ts';
import { clockAhead, OWN_CLOCKS } from '../../schedules/store-time.ts';
import type { NodeEntry, NodeQueue } from '../../wire/node-view.ts';
import type { Home } from '../home.ts';
import type { DrainSwitch } from './drain-switch.ts';
import { readOrder } from './list-nodes.ts';
import type { ListenAddress } from './node-addresses.ts';
import { addressesOf, proveEntry } from './node-addresses.ts';
import { NODE_RECORD, RENEW_EVERY_MS, retentionMs } from './node-entry.ts';
import { HeldFiles, loadOf } from './node-load.ts';
import type { NodeSecret } from './node-secret.ts';

const ORDER_POLL_INTERVAL_MS = 2_000;

type About = Pick<NodeEntry, 'name' | 'host' | 'pid' | 'url' | 'version'> & { readonly isUrlSet: boolean };

export interface RegistryOptions {
  readonly id: string;
  readonly store: Store;
  readonly home: Home;
  readonly secret: NodeSecret;
  readonly drain: DrainSwitch;
  /** Called each time: the address may change while it runs. */
  about(): About;
  queues(): readonly NodeQueue[];
  onTrouble(what: string, error: unknown): void;
}

export class NodeRegistry {
  readonly #options: RegistryOptions;
  readonly #held: HeldFiles;
  readonly #epoch = randomUUID();
  readonly #startedAt = Date.now();
  #listens: readonly ListenAddress[] = [];
  #aheadMs = 0;
  #isStopping = false;
  #timers: NodeJS.Timeout[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#held = new HeldFiles(options.home);
  }

  /** The store's time, estimated at the last renewal. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  async start(): Promise<void> {
    await this.#readOrder();
    await this.renew();
    this.#timers = [
      setInterval(() => void this.renew(), RENEW_EVERY_MS),
      setInterval(
        () => void this.#enqueue('an order to this node could not be read', () => this.#applyOrder()),
        ORDER_POLL_INTERVAL_MS,
      ),
    ];
  }

  /** Publishes the addresses of the API. */
  listensOn(addresses: readonly ListenAddress[]): Promise<void> {
    this.#listens = addresses;
    return this.renew();
  }

  renew(): Promise<void> {
    return this.#enqueue('the entry of this node could not be renewed', () => this.#put(null));
  }

  /** Publishes that this node starts nothing new. */
  leave(): Promise<void> {
    this.#isStopping = true;
    return this.renew();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    const { store, id } = this.#options;
    this.#held.forget();
    await this.#enqueue('the entry of this node could not be closed', async () => {
      if (store.isShared) await this.#put(this.now());
      else await store.records.delete(NODE_RECORD, id);
    });
  }

  /** Runs tasks one after the other; an error is reported, and the next run follows soon. */
  #enqueue(what: string, work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((error: unknown) => this.#options.onTrouble(what, error));
    return this.#last;
  }

  async #applyOrder(): Promise<void> {
    if (await this.#readOrder()) await this.#put(null);
  }

  async #readOrder(): Promise<boolean> {
    const { store, id, drain } = this.#options;
    const { isDraining } = await readOrder(store, id);
    const isChanged = isDraining !== drain.isDraining;
    drain.set(isDraining);
    return isChanged;
  }

  async #put(stoppedAt: number | null): Promise<void> {
    const { store, id } = this.#options;
    this.#aheadMs = await clockAhead(store.records, OWN_CLOCKS);
    const entry = await this.#entry(stoppedAt);
    const value = JSON.stringify({ ...entry, proof: proveEntry(this.#options.secret, entry) });
    await store.records.put({ kind: NODE_RECORD, key: id, value, expiresAt: entry.seenAt + retentionMs(store) });
  }

  async #entry(stoppedAt: number | null): Promise<NodeEntry> {
    const { id, home, drain, about, queues } = this.#options;
    const { isUrlSet, ...facts } = about();
    return {
      id,
      ...facts,
      epoch: this.#epoch,
      addresses: addressesOf(isUrlSet ? facts.url : null, this.#listens),
      machine: bootIdentity(),
      startedAt: this.#startedAt,
      seenAt: this.now(),
      stoppedAt,
      isDraining: drain.isDraining || this.#isStopping,
      clockSkewMs: -this.#aheadMs,
      ...(await loadOf(home, queues())),
      holds: await this.#held.count(),
    };
  }
}

/** The id of a node belongs to its data directory, and survives restarts. */
export function nodeIdOf(home: Home): string {
  const known = knownNodeId(home);
  if (known !== null) return known;
  const id = randomUUID();
  writeFileSync(idPath(home), `${id}\n`, { mode: 0o600 });
  return id;
}

/** Returns null for a data directory that never had a node. */
export function knownNodeId(home: Home): string | null {
  try {
    const text = readFileSync(idPath(home), 'utf8');
    return /^[0-9a-f-]{36}\n$/.test(text) ? text.trim() : null;
  } catch {
    return null;
  }
}

const idPath = ({ root }: Home): string => join(root, 'node-id');
