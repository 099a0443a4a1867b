/**
 * What the routes work on. The composition root puts it together; the server holds no rule of its own and asks no more
 * of a node than what stands here.
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
import type { Hooks } from '../../node/webhooks/open-webhooks.ts';
import type { EventFeed } from '../streams/event-feed.ts';
import type { PageFiles } from './web-files.ts';

/** The part of a node that the server speaks to. */
export interface NodeFace {
  readonly attachments: Attachments;
  readonly uploads: AttachmentUploads;
  readonly attempts: AttemptReader;
  readonly relay: Pick<Relay, 'receiver' | 'remote' | 'source'>;
  readonly copies: Copies;
  /** The other nodes of the store. */
  readonly others: OtherNodes;
  /** The store's time, as far as it is known. */
  storeNow(): number;
  readonly hooks: Pick<Hooks, 'problems'>;
  /** Queues by name, with what keeps each from being worked. */
  queues(): ReadonlyMap<string, string | null>;
  /** Those that a file in the folder of the queues makes. */
  fileQueues(): ReadonlySet<string>;
  /** Of a script that runs here; null for any other job. */
  processes(job: string): Promise<JobProcesses | null>;
  /** The MD5 of an attachment's content, for who goes by it; null when it is not on this disk. */
  md5(sha256: string): Promise<string | null>;
  /** What is kept in files of a queue's jobs; null before somebody counted. */
  keptFiles(queue: string): QueueFiles | null;
  /** What retention would take of them now. */
  prunableFiles(queue?: string): Promise<readonly Prunable[]>;
  reload(): Promise<void>;
  /** Somebody changed a schedule: looks at once. */
  wakeSchedules(): void;
}

export interface SettingsFace {
  read(queue: string): Promise<QueueSettings>;
  /** The queue's own, and those of every queue. */
  layers(queue: string): Promise<SettingLayers>;
  change(queue: string, input: SettingsInput): Promise<QueueSettings>;
  unset(queue: string, name: SettingName): Promise<QueueSettings>;
}

/** What the composition root gives; the server itself adds what lives as long as it does. */
export type GivenContext = Omit<ServerContext, 'events'>;

export interface ServerContext {
  readonly store: Store;
  /** As the store was opened: a caller's `now` is taken only where it was opened for that. */
  readonly clock: ClockSource;
  readonly settings: SettingsFace;
  /** Null where no node runs beside the server: then there are no files to speak of. */
  readonly node: NodeFace | null;
  /** Null as above. */
  readonly health: NodeHealth | null;
  /** The page for people, where it was built. */
  readonly page: PageFiles | null;
  /** What happens in the store, for those who listen. */
  readonly events: EventFeed;
  readonly version: string;
  newId(): string;
  now(): number;
}
