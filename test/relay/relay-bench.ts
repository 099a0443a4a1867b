/**
 * Nodes in this process that relay to one another: data directory, store, node and HTTP server each, as `serve`
 * assembles them. Nothing is left when the test file is over.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { newJobOf } from '../../src/core/input/add-options.ts';
import type { Job } from '../../src/core/job/job.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { SettingsInput } from '../../src/core/settings/settings-input.ts';
import { homeAt } from '../../src/node/home.ts';
import { nodeSettings } from '../../src/node/node-settings.ts';
import type { NodeEvent } from '../../src/node/open-node.ts';
import { openNode } from '../../src/node/open-node.ts';
import { openAccess } from '../../src/server/auth/access.ts';
import { openServer } from '../../src/server/http/open-server.ts';
import { createRouteTable, ROUTES } from '../../src/server/http/route-table.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { idSource } from '../../src/worker/loop/id-source.ts';
import { SettingsCache } from '../../src/worker/loop/settings-cache.ts';
import { eventually } from '../processes/runner-workbench.ts';
import { atTheEnd } from '../support/at-the-end.ts';

/** The test's node.json; the addresses of this machine are allowed unless it says otherwise. */
export type NodeFile = Readonly<Record<string, unknown>>;

const QUICK: SettingsInput = { backoff: { kind: 'fixed', delay: 50, jitter: 0 }, concurrency: 64 };

export type TrialNode = Awaited<ReturnType<typeof startNode>>;

export async function startNode(
  file: NodeFile = {},
  options: { requireToken?: boolean; store?: Store; port?: number } = {},
) {
  const home = homeAt(mkdtempSync(join(tmpdir(), 'longhaul-relay-')));
  const store = options.store ?? openMemoryStore({});
  const events: NodeEvent[] = [];
  const troubles: string[] = [];
  const settings = new SettingsCache(store);
  const onTrouble = (what: string, error: unknown): void => void troubles.push(`${what}: ${String(error)}`);
  const access = openAccess({ store, now: Date.now, requireToken: options.requireToken ?? false, onTrouble });
  const json = { allowDestinations: ['127.0.0.0/8'], relay: { timeout: '20s' }, ...file };
  const live = { ...nodeSettings(JSON.stringify(json)) };
  await settings.change('relay', QUICK);
  writeFileSync(home.settings, JSON.stringify(json), { mode: 0o600 });
  const node = await openNode({
    home,
    store,
    settings: live,
    version: '0.0.0',
    host: 'trial',
    pid: process.pid,
    inherited: process.env,
    onEvent: (each) => {
      events.push(each);
      if (each.type === 'trouble') onTrouble(each.what, each.error);
    },
  });
  const server = await openServer({
    context: {
      store: access.store,
      clock: 'store',
      settings,
      node,
      health: null,
      page: null,
      version: '0.0.0',
      newId: idSource(),
      now: Date.now,
    },
    table: createRouteTable(ROUTES),
    guard: access.guard,
    onAnswer: access.onAnswer,
    onTrouble,
    tcp: [{ host: '127.0.0.1', port: options.port ?? 0 }],
    socket: null,
  });
  const port = server.addresses[0]?.port ?? 0;
  // The actual address, unless the test has set one.
  if (file['url'] === undefined) Object.assign(live, { url: `http://127.0.0.1:${port}/` });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await server.stop();
    access.stop();
    await node.stop();
    settings.close();
    await store.close();
    rmSync(home.root, { recursive: true, force: true });
  };
  atTheEnd(stop);
  return {
    home,
    store,
    node,
    port,
    events,
    troubles,
    settings,
    stop,
    base: `http://127.0.0.1:${port}/`,
    /** Applies other settings, as SIGHUP does. */
    change: (more: NodeFile): void => {
      const next = nodeSettings(JSON.stringify({ ...json, url: live.url, ...more }));
      Object.assign(live, next);
    },
    async knows(...queues: readonly string[]): Promise<void> {
      for (const queue of queues) await settings.change(queue, {});
    },
    find: async (id: string): Promise<Job | null> => (await store.jobs.find([id]))[0] ?? null,
    ask: async (method: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const text = await answer.text();
      return { status: answer.status, json: text === '' ? null : (JSON.parse(text) as unknown) };
    },
  };
}

export interface SentFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export function aFile(name: string, size: number): SentFile {
  return { name, bytes: randomBytes(size) };
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface ToRelay {
  readonly id: string;
  readonly to: string;
  readonly data?: unknown;
  readonly files?: readonly SentFile[];
  readonly forceRemote?: boolean;
}

/** Adds a job for another node with its files, like a producer. */
export async function relay({ store, node }: TrialNode, { id, to, data = null, files = [], forceRemote }: ToRelay) {
  const basis = { queue: to, data: JSON.stringify(data), newId: () => id };
  const job = newJobOf(basis, { draft: true, ...(forceRemote !== undefined && { forceRemote }) });
  await store.jobs.add([job]);
  for (const { name, bytes } of files) {
    const added = await node.blobs.addFromStream(Readable.from([bytes], { objectMode: false }));
    if (!added.ok) throw new Error(added.refusal.message);
    await node.attachments.put(id, { name, ...added.blob, direction: 'in' });
  }
  await store.jobs.commit([id]);
}

/** Returns the job once the condition holds. */
export function until(node: TrialNode, id: string, isSo: (job: Job) => boolean, ms = 30_000): Promise<Job> {
  const read = async (): Promise<Job | null> => node.find(id);
  return eventually(read, (job) => job !== null && isSo(job), ms) as Promise<Job>;
}

export const ended = (job: Job): boolean => job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
export const hasFailed = (job: Job): boolean => job.failures > 0 || job.state === 'failed';

/** Returns all jobs of a queue. */
export async function jobsIn({ store }: TrialNode, queue: string): Promise<readonly Job[]> {
  return (await store.jobs.list({ queue, order: 'newest', limit: 1_000 })).jobs;
}

/** Name and hash of a job's input files, with the bytes read and hashed again. */
export async function filesOf({ node }: TrialNode, id: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const file of await node.attachments.list(id)) {
    const reading = await node.attachments.read(file);
    if (!reading.ok) throw new Error(reading.refusal.message);
    found[file.name] = sha256(Buffer.concat((await reading.stream.toArray()) as Buffer[]));
  }
  return found;
}

export function hashesOf(files: readonly SentFile[]): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(({ name, bytes }) => [name, sha256(bytes)]));
}
