/**
 * The services that routes use. The composition root assembles them. The server has no rules of its own, and uses of a node
 * only what this file lists.
 */
import type { ClockSource } from '../../core/lifecycle/clock.ts';
import type { Prunable } from '../../core/lifecycle/prunable.ts';
import type { Store } from '../../core/ports/store.ts';
import type { SettingLayers, SettingName } from '../../core/settings/global-settings.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import type { AttachmentUploads } from '../../files/attachments/attachment-uploads.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { AttemptReader } from '../../node/attempts/attempt-reader.ts';
import type { Copies } from '../../node/cluster/copies.ts';
import type { OtherNodes } from '../../node/cluster/other-nodes.ts';
import type { NodeHealth } from '../../node/node-health.ts';
import type { Relay } from '../../node/relay/open-relay.ts';
import type { QueueFiles } from '../../node/retention/kept-files.ts';
import type { JobProcesses } from '../../node/scripts/job-processes.ts';
import type { Webhooks } from '../../node/webhooks/open-webhooks.ts';
import type { EventFeed } from '../streams/event-feed.ts';
import type { WebFiles } from './web-files.ts';

/** The part of a node that the server uses. */
export interface NodeServices {
  readonly attachments: Attachments;
  readonly uploads: AttachmentUploads;
  readonly attempts: AttemptReader;
  readonly relay: Pick<Relay, 'receiver' | 'remote' | 'source'>;
  readonly copies: Copies;
  /** The other nodes of the store. */
  readonly others: OtherNodes;
  /** Returns the store's time, estimated from its last answer. */
  storeNow(): number;
  readonly hooks: Pick<Webhooks, 'problems'>;
  /** Returns the queues of this node with their problems; null for a queue without one. */
  queues(): ReadonlyMap<string, string | null>;
  /** Returns the queues that are defined by a file in the directory of queues. */
  fileQueues(): ReadonlySet<string>;
  /** Returns the processes of a script that runs on this node; null for any other job. */
  processes(job: string): Promise<JobProcesses | null>;
  /** Returns the MD5 of an attachment, for the RQ interface; null if its content is not on this disk. */
  md5(sha256: string): Promise<string | null>;
  /** Returns the file storage of a queue's jobs; null before the first count. */
  keptFiles(queue: string): QueueFiles | null;
  /** Returns the files that retention would delete now. */
  prunableFiles(queue?: string): Promise<readonly Prunable[]>;
  reload(): Promise<void>;
  /** Makes the schedule runner check at once, after a change of a schedule. */
  wakeSchedules(): void;
}

export interface SettingsAccess {
  read(queue: string): Promise<QueueSettings>;
  /** Returns the queue's own settings and those for all queues. */
  layers(queue: string): Promise<SettingLayers>;
  change(queue: string, input: SettingsInput): Promise<QueueSettings>;
  unset(queue: string, name: SettingName): Promise<QueueSettings>;
}

/** The context from the composition root; the server adds the event feed. */
export type GivenContext = Omit<ServerContext, 'events'>;

export interface ServerContext {
  readonly store: Store;
  /** The clock of the store: a caller's `now` is accepted only if the store does not use its own clock. */
  readonly clock: ClockSource;
  readonly settings: SettingsAccess;
  /** Null if the server runs without a node: then there are no files. */
  readonly node: NodeServices | null;
  /** The data directory of the node. */
  readonly home?: string;
  /** Null if the server runs without a node. */
  readonly health: NodeHealth | null;
  /** The files of the web UI; null if it is not built. */
  readonly page: WebFiles | null;
  /** The events of the store, for event streams. */
  readonly events: EventFeed;
  readonly version: string;
  newId(): string;
  now(): number;
}
