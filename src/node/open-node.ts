/**
 * The node: the queues of one home folder, worked by scripts. What it is given, what it tells, what it can be asked;
 * how it works is in script-node.ts.
 */
import { mkdir } from 'node:fs/promises';
import type { Prunable } from '../core/lifecycle/prunable.ts';
import type { Store } from '../core/ports/store.ts';
import { AttachmentUploads } from '../files/attachments/attachment-uploads.ts';
import type { Attachments } from '../files/attachments/attachments.ts';
import type { Blobs } from '../files/blobs/blobs.ts';
import { openBlobs } from '../files/blobs/open-blobs.ts';
import type { RunnerHealth } from '../runner/process/runner-link.ts';
import type { ScheduleRunner } from '../schedules/schedule-runner.ts';
import { startScheduleRunner } from '../schedules/schedule-runner.ts';
import type { NodeQueue } from '../wire/node-view.ts';
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
import type { Relay } from './relay/open-relay.ts';
import { openRelay } from './relay/open-relay.ts';
import type { QueueFiles } from './retention/kept-files.ts';
import { openRouter } from './router/open-router.ts';
import type { JobProcesses } from './scripts/job-processes.ts';
import { ScriptNode } from './scripts/script-node.ts';
import { ownStore } from './store-owner.ts';
import type { Hooks } from './webhooks/open-webhooks.ts';
import { openHooks } from './webhooks/open-webhooks.ts';
import { outputAt } from './webhooks/output-at.ts';

export interface NodeOptions {
  readonly home: Home;
  readonly store: Store;
  readonly settings: NodeSettings;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** The environment from which scripts get their allow-list. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** The database file of the store, where it has one. */
  readonly storeFile?: string | null;
  onNews?(news: NodeNews): void;
}

export type NodeNews =
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
  readonly hooks: Pick<Hooks, 'problems'>;
  readonly blobs: Blobs;
  readonly copies: Copies;
  /** The other nodes of the store. */
  readonly others: OtherNodes;
  /** Knows them by their proofs when they call. */
  readonly nodeBy: Membership['nodeBy'];
  /** The store's time, as far as it is known. */
  storeNow(): number;
  /** Where its API answers, once that is known: told to other nodes. */
  listensOn(addresses: readonly ListenAddress[]): Promise<void>;
  /** Queues by name, with what keeps each from being worked. */
  queues(): ReadonlyMap<string, string | null>;
  /** Those that a file in the folder of the queues makes. */
  fileQueues(): ReadonlySet<string>;
  /** Of a script that this node attends; null for any other job. */
  processes(job: string): Promise<JobProcesses | null>;
  /** Whether the process that starts scripts lives. */
  runnerHealth(): RunnerHealth;
  /** The MD5 of a blob; null when it is not here. */
  md5(sha256: string): Promise<string | null>;
  /** Somebody changed a schedule: looks at once. */
  wakeSchedules(): void;
  /** Looks at the folder of the queues now. */
  reload(): Promise<void>;
  /** What is kept in files of a queue's jobs; null before somebody counted. */
  keptFiles(queue: string): QueueFiles | null;
  /** What retention would take of them now. */
  prunableFiles(queue?: string): Promise<readonly Prunable[]>;
  /** Removes the files of jobs that are no more. Done by itself now and then. */
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
    const face = faceOf(options, node, member);
    const lane = { ...laneParts(options, face), drain: member.drain, newId: member.newId };
    const relay = await openRelay({ ...lane, uploads: face.uploads });
    undo.push(() => relay.stop());
    const router = await openRouter({ ...lane, upOf: (addresses, signal) => relay.health.upOf(addresses, signal) });
    undo.push(() => router.stop());
    const hooks = await openHooks({ ...lane, outputAt: (job) => outputAt(options.home, job) });
    const schedules = keepSchedules(options);
    return {
      ...face,
      relay,
      hooks,
      wakeSchedules: () => schedules.wake(),
      stop({ absenceMs = ABSENCE_MS } = {}) {
        const last = [() => lock.release(), () => owner.release(), () => member.stop(), () => node.stop(absenceMs)];
        const lanes = [() => relay.stop(), () => hooks.stop(), () => router.stop()];
        return undoAll([...last, ...lanes, () => schedules.stop(), () => member.registry.leave()], options);
      },
    };
  } catch (error) {
    await undoAll(undo, options);
    throw error;
  }
}

/**
 * The last step first. A step that fails is reported and keeps no other from its end: what has begun would keep the process
 * of a node that could not start or stop, and its scripts without a node.
 */
async function undoAll(undo: (() => unknown)[], { onNews }: NodeOptions): Promise<void> {
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch (error) {
      onNews?.({ type: 'trouble', what: 'a part of the node could not be stopped', error });
    }
  }
}

type Face = Omit<Node, 'stop' | 'wakeSchedules' | 'relay' | 'hooks'>;

function faceOf({ home, store }: NodeOptions, node: ScriptNode, member: Membership): Face {
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
    runnerHealth: () => node.runnerHealth(),
    md5: async (sha256) => {
      const answer = await node.blobs.md5(sha256);
      return answer.ok ? answer.md5 : null;
    },
    reload: () => node.look(),
    keptFiles: (queue) => node.files.kept.of(queue),
    prunableFiles: (queue) => node.files.prunable(queue),
    sweep: () => node.files.sweep(),
  };
}

/** What the queues that the node works by itself are made of. */
function laneParts({ store, settings, home, host, pid, onNews }: NodeOptions, face: Face) {
  return {
    store,
    settings,
    node: settings,
    host,
    pid,
    home: home.root,
    journalPath: home.journal,
    attachments: face.attachments,
    hasQueue: (name: string) => face.queues().has(name),
    onEvent: (event: WorkerEvent) => onNews?.({ type: 'worker', event }),
    onTrouble: (what: string, error: unknown) => onNews?.({ type: 'trouble', what, error }),
  };
}

function join({ store, home, settings, host, pid, version, onNews }: NodeOptions, load: () => readonly NodeQueue[]) {
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
      onTrouble: (what, error) => onNews?.({ type: 'trouble', what, error }),
    },
    load,
  );
}

function keepSchedules({ store, onNews }: NodeOptions): ScheduleRunner {
  const onTrouble = (what: string, error: unknown): void => onNews?.({ type: 'trouble', what, error });
  return startScheduleRunner({ store, onTrouble });
}
