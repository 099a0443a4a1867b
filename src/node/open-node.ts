/**
 * The node: the queues of one data directory, run by scripts. This file defines its options, events and calls, and
 * assembles its parts. ScriptNode runs the scripts.
 */
import { mkdir } from 'node:fs/promises';
import type { Prunable } from '../core/lifecycle/prunable.ts';
import type { Store } from '../core/ports/store.ts';
import type { Telemetry } from '../core/ports/telemetry.ts';
import { AttachmentUploads } from '../files/attachments/attachment-uploads.ts';
import type { Attachments } from '../files/attachments/attachments.ts';
import type { Blobs } from '../files/blobs/blobs.ts';
import { openBlobs } from '../files/blobs/open-blobs.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import type { ScheduleRunner } from '../schedules/schedule-runner.ts';
import { startScheduleRunner } from '../schedules/schedule-runner.ts';
import type { NodeQueue } from '../wire/node-view.ts';
import type { CapacityUsage } from '../worker/loop/capacity-pool.ts';
import type { WorkerEvent } from '../worker/loop/worker-event.ts';
import { AttemptReader } from './attempts/attempt-reader.ts';
import type { Copies } from './cluster/copies.ts';
import type { Membership } from './cluster/membership.ts';
import { openMembership } from './cluster/membership.ts';
import type { ListenAddress } from './cluster/node-addresses.ts';
import type { OtherNodes } from './cluster/other-nodes.ts';
import type { Home } from './home.ts';
import { takeNodeLock } from './node-lock.ts';
import type { NodeSettings } from './node-settings.ts';
import { openRqQueues } from './queues/open-rq-queues.ts';
import type { Relay } from './relay/open-relay.ts';
import { openRelay } from './relay/open-relay.ts';
import type { QueueFiles } from './retention/kept-files.ts';
import { openRouter } from './router/open-router.ts';
import type { JobProcesses } from './scripts/job-processes.ts';
import { ScriptNode } from './scripts/script-node.ts';
import { ownStore } from './store-owner.ts';
import type { Webhooks } from './webhooks/open-webhooks.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';
import { outputAt } from './webhooks/output-at.ts';

export interface NodeOptions {
  readonly home: Home;
  readonly store: Store;
  readonly settings: NodeSettings;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** The environment from which scripts inherit an allow-list of variables. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** The database file of the store, if it has one. */
  readonly storeFile?: string | null;
  /** Spans for the attempts of this node. Default: none. */
  readonly telemetry?: Telemetry | null;
  onEvent?(event: NodeEvent): void;
}

export type NodeEvent =
  | {
      readonly type: 'queue';
      readonly queue: string;
      readonly problem: string | null;
      readonly notices: readonly string[];
    }
  | { readonly type: 'adopted'; readonly jobs: number }
  | { readonly type: 'worker'; readonly event: WorkerEvent }
  | { readonly type: 'trouble'; readonly what: string; readonly error: unknown };

export interface Node {
  readonly attachments: Attachments;
  readonly uploads: AttachmentUploads;
  readonly attempts: AttemptReader;
  readonly relay: Relay;
  readonly hooks: Pick<Webhooks, 'problems'>;
  readonly blobs: Blobs;
  readonly copies: Copies;
  /** The other nodes of the store. */
  readonly others: OtherNodes;
  /** Authenticates another node by its credential when it calls. */
  readonly nodeBy: Membership['nodeBy'];
  /** The store's time, as last estimated. */
  storeNow(): number;
  /** Publishes the addresses of this node's API to the other nodes. */
  listensOn(addresses: readonly ListenAddress[]): Promise<void>;
  /** Returns the queues by name, each with the problem that stops it, or null. */
  queues(): ReadonlyMap<string, string | null>;
  /** Returns the queues that are defined by a file in `queues/`. */
  fileQueues(): ReadonlySet<string>;
  /** Returns the processes of a script that this node supervises; null for any other job. */
  processes(job: string): Promise<JobProcesses | null>;
  /** Returns each queue with its slots and running attempts. */
  load(): readonly NodeQueue[];
  /** Returns the capacity of this node for jobs that need resources, and how much of it is in use. */
  capacity(): CapacityUsage;
  /** Returns the state of the runner process. */
  runnerHealth(): RunnerHealth;
  /** Returns the MD5 of a blob; null when it is not on this node. */
  md5(sha256: string): Promise<string | null>;
  /** Makes the schedule runner re-read the schedules now. */
  wakeSchedules(): void;
  /** Scans `queues/` now. */
  reload(): Promise<void>;
  /** Returns the size of the files of a queue's jobs; null before the first count. */
  keptFiles(queue: string): QueueFiles | null;
  /** Returns the files that retention would remove now. */
  prunableFiles(queue?: string): Promise<readonly Prunable[]>;
  /** Removes the files of deleted jobs. Also runs periodically. */
  sweep(): Promise<void>;
  stop(options?: { absenceMs?: number }): Promise<void>;
}

const ABSENCE_MS = 600_000;

export async function openNode(options: NodeOptions): Promise<Node> {
  await mkdir(options.home.queues, { recursive: true, mode: 0o700 });
  const lock = takeNodeLock(options.home.lock);
  const undo: (() => unknown)[] = [() => lock.release()];
  try {
    const owner = await ownStore({ store: options.store, home: options.home, file: options.storeFile ?? null });
    undo.push(() => owner.release());
    let load = (): readonly NodeQueue[] => [];
    const member = await join(options, () => load());
    undo.push(() => member.stop());
    const node = new ScriptNode(options, { blobs: await openBlobs({ folder: options.home.blobs }), member });
    load = () => node.load();
    undo.push(() => node.stop(ABSENCE_MS));
    await node.start();
    const base = nodeBaseOf(options, node, member);
    const parts = { ...systemQueueParts(options, base), drain: member.drain, newId: member.newId };
    const relay = await openRelay({ ...parts, uploads: base.uploads });
    undo.push(() => relay.stop());
    const router = await openRouter({ ...parts, upOf: (addresses, signal) => relay.health.upOf(addresses, signal) });
    undo.push(() => router.stop());
    const rqQueues = options.settings.rq.open ? await openRqQueues(parts) : { stop: () => Promise.resolve() };
    undo.push(() => rqQueues.stop());
    const hooks = await openWebhooks({ ...parts, outputAt: (job) => outputAt(options.home, job) });
    const schedules = startSchedules(options);
    return {
      ...base,
      relay,
      hooks,
      wakeSchedules: () => schedules.wake(),
      stop({ absenceMs = ABSENCE_MS } = {}) {
        const last = [() => lock.release(), () => owner.release(), () => member.stop(), () => node.stop(absenceMs)];
        const systemQueues = [() => relay.stop(), () => hooks.stop(), () => router.stop(), () => rqQueues.stop()];
        return undoAll([...last, ...systemQueues, () => schedules.stop(), () => member.registry.leave()], options);
      },
    };
  } catch (error) {
    await undoAll(undo, options);
    throw error;
  }
}

/**
 * Undoes the steps in reverse order. A step that fails is reported and does not stop the others: a part that still runs
 * would keep the process of a failed node alive, and its scripts without a node.
 */
async function undoAll(undo: (() => unknown)[], { onEvent }: NodeOptions): Promise<void> {
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch (error) {
      onEvent?.({ type: 'trouble', what: 'failed to stop a part of the node', error });
    }
  }
}

type NodeBase = Omit<Node, 'stop' | 'wakeSchedules' | 'relay' | 'hooks'>;

function nodeBaseOf({ home, store }: NodeOptions, node: ScriptNode, member: Membership): NodeBase {
  return {
    copies: node.copies,
    others: member.others,
    nodeBy: member.nodeBy,
    storeNow: () => member.registry.now(),
    listensOn: (addresses) => member.registry.listensOn(addresses),
    attachments: node.attachments,
    uploads: new AttachmentUploads(store, node.blobs, node),
    attempts: new AttemptReader(home, store),
    blobs: node.blobs,
    queues: () => node.queues(),
    fileQueues: () => node.fileQueues,
    processes: (job) => node.processes(job),
    load: () => node.load(),
    capacity: () => node.capacity.pool.usage(),
    runnerHealth: () => node.runnerHealth(),
    md5: async (sha256) => {
      const answer = await node.blobs.md5(sha256);
      return answer.ok ? answer.md5 : null;
    },
    reload: () => node.scanQueues(),
    keptFiles: (queue) => node.files.kept.of(queue),
    prunableFiles: (queue) => node.files.prunable(queue),
    sweep: () => node.files.sweep(),
  };
}

/** The parts of system queues. */
function systemQueueParts({ store, settings, home, host, pid, telemetry, onEvent }: NodeOptions, base: NodeBase) {
  return {
    store,
    telemetry: telemetry ?? null,
    settings,
    node: settings,
    host,
    pid,
    home: home.root,
    journalPath: home.journal,
    attachments: base.attachments,
    hasQueue: (name: string) => base.queues().has(name),
    onEvent: (event: WorkerEvent) => onEvent?.({ type: 'worker', event }),
    onTrouble: (what: string, error: unknown) => onEvent?.({ type: 'trouble', what, error }),
  };
}

function join({ store, home, settings, host, pid, version, onEvent }: NodeOptions, load: () => readonly NodeQueue[]) {
  return openMembership(
    {
      store,
      home,
      about: () => ({
        name: settings.name ?? host,
        host,
        pid,
        version,
        url: settings.url,
        isUrlSet: settings.isUrlSet,
      }),
      onTrouble: (what, error) => onEvent?.({ type: 'trouble', what, error }),
    },
    load,
  );
}

function startSchedules({ store, onEvent }: NodeOptions): ScheduleRunner {
  const onTrouble = (what: string, error: unknown): void => onEvent?.({ type: 'trouble', what, error });
  return startScheduleRunner({ store, onTrouble });
}
