/**
 * The nodes that share a store, each by a record that it renews and that expires when it no longer does. For people and
 * pages: nobody decides anything by it.
 */
import { randomUUID } from 'node:crypto';
import { readFile, statfs, writeFile } from 'node:fs/promises';
import { freemem, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../core/store.ts';
import type { Home } from './home.ts';

const NODE_RECORD = 'node';
const RENEW_EVERY_MS = 10_000;
/** Two renewals may fail before a node counts as gone. */
const KEPT_MS = 35_000;
const MOST_NODES = 500;

export interface NodeQueue {
  readonly queue: string;
  /** What keeps it from being worked. */
  readonly problem: string | null;
  readonly slots: number;
  readonly running: number;
}

export interface NodeEntry {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly url: string;
  readonly version: string;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isDraining: boolean;
  readonly queues: readonly NodeQueue[];
  readonly slots: number;
  readonly running: number;
  /** Of the machine: the last one, five and fifteen minutes. */
  readonly load: readonly number[];
  readonly memory: { readonly total: number; readonly free: number; readonly rss: number };
  /** Of the home folder's disk; null when it cannot be looked at. */
  readonly disk: { readonly total: number; readonly free: number } | null;
}

export interface RegistryOptions {
  readonly store: Store;
  readonly home: Home;
  /** Asked each time: its address may be changed while it runs. */
  about(): Pick<NodeEntry, 'host' | 'pid' | 'url' | 'version'>;
  queues(): readonly NodeQueue[];
  onTrouble(what: string, error: unknown): void;
}

export interface NodeRegistry {
  /** Tells that nothing new is begun here. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export async function openNodeRegistry(options: RegistryOptions): Promise<NodeRegistry> {
  const { store, home, about, onTrouble } = options;
  const id = await idOf(home);
  const startedAt = Date.now();
  let isDraining = false;
  let last = Promise.resolve();
  const renew = (): Promise<void> => {
    last = last
      .then(async () => put(store, { id, ...about(), startedAt, isDraining, ...(await look(options)) }))
      .catch((error: unknown) => onTrouble('the entry of this node could not be renewed', error));
    return last;
  };
  await renew();
  const timer = setInterval(() => void renew(), RENEW_EVERY_MS);
  return {
    drain() {
      isDraining = true;
      return renew();
    },
    async stop() {
      clearInterval(timer);
      await last;
      await store.records
        .delete(NODE_RECORD, id)
        .catch((error: unknown) => onTrouble('the entry of this node could not be removed', error));
    },
  };
}

export async function listNodes(store: Store): Promise<readonly NodeEntry[]> {
  const records = await store.records.list({ kind: NODE_RECORD, limit: MOST_NODES });
  return records.map(({ value }) => JSON.parse(value) as NodeEntry);
}

async function put(store: Store, entry: NodeEntry): Promise<void> {
  const expiresAt = entry.seenAt + KEPT_MS;
  await store.records.put({ kind: NODE_RECORD, key: entry.id, value: JSON.stringify(entry), expiresAt });
}

async function look({ home, queues }: RegistryOptions) {
  const lanes = queues();
  const disk = await statfs(home.root).catch(() => null);
  return {
    seenAt: Date.now(),
    queues: lanes,
    slots: lanes.reduce((sum, { slots }) => sum + slots, 0),
    running: lanes.reduce((sum, { running }) => sum + running, 0),
    load: loadavg(),
    memory: { total: totalmem(), free: freemem(), rss: process.memoryUsage.rss() },
    disk: disk === null ? null : { total: disk.blocks * disk.bsize, free: disk.bavail * disk.bsize },
  };
}

/** A node is its home folder: the same one after a restart. */
async function idOf({ root }: Home): Promise<string> {
  const path = join(root, 'node-id');
  const known = await readFile(path, 'utf8').catch(() => '');
  if (/^[0-9a-f-]{36}\n$/.test(known)) return known.trim();
  const id = randomUUID();
  await writeFile(path, `${id}\n`, { mode: 0o600 });
  return id;
}
