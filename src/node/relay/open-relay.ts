/**
 * Opens the relay of a node: the system queue that sends jobs, the receiver, and reads of relayed jobs. It owns its
 * outgoing connections; the node starts and stops it.
 */
import { RELAY_QUEUE } from '../../core/job/relay-request.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { AttachmentUploads } from '../../files/attachments/attachment-uploads.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import { destinationsOf } from '../../outbound/destinations.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import type { NodeSettings } from '../node-settings.ts';
import { baseOf } from '../outbound-settings.ts';
import type { SystemQueueParts } from '../queues/system-queue.ts';
import { SystemQueue } from '../queues/system-queue.ts';
import { Pacers } from './pacers.ts';
import { PeerHealth } from './peer-health.ts';
import { PeerKinds } from './peer-kind.ts';
import type { RelayHost } from './relay-attempt.ts';
import { peerAt, relayAttempt } from './relay-attempt.ts';
import { RelayReceiver } from './relay-receiver.ts';
import { RemoteJobs } from './remote-jobs.ts';

export interface RelayParts extends SystemQueueParts {
  readonly settings: NodeSettings;
  readonly attachments: Attachments;
  readonly uploads: AttachmentUploads;
  hasQueue(name: string): boolean;
}

export interface Relay {
  readonly receiver: RelayReceiver;
  readonly remote: RemoteJobs;
  readonly health: PeerHealth;
  /** The identity of this node's store. */
  readonly source: string;
  stop(): Promise<void>;
}

/** Retried without limit, with backoff, a few at a time. */
export const RELAY_DEFAULTS: Partial<QueueSettings> = {
  concurrency: 8,
  retries: 1_000_000,
  maxCrashes: 1_000_000,
  backoff: { kind: 'exponential', delayMs: 5_000, maxMs: 900_000, jitter: 0.2, delaysMs: [] },
};

export async function openRelay(parts: RelayParts): Promise<Relay> {
  const { store, settings, attachments, uploads, hasQueue } = parts;
  const receiver = new RelayReceiver({ store, attachments, uploads, settings, hasQueue, now: Date.now });
  const outbound = openOutbound(() => destinationsOf([...settings.outbound.allow, ...ownAddresses(settings)]));
  const host: RelayHost = {
    attachments,
    receiver,
    settings,
    outbound,
    kinds: new PeerKinds(store.records),
    pacers: new Pacers(settings),
    source: await storeIdentity(store.records),
  };
  const systemQueue = new SystemQueue(parts, {
    queue: RELAY_QUEUE,
    defaults: RELAY_DEFAULTS,
    run: (job, context) => relayAttempt(host, job, context),
  });
  await systemQueue.start();
  return {
    receiver,
    remote: new RemoteJobs(host),
    health: new PeerHealth(
      (base, signal) => peerAt(host, base, signal),
      () => [settings.url, ...settings.aliases].map(baseOf),
    ),
    source: host.source,
    async stop() {
      await systemQueue.stop();
      outbound.close();
    },
  };
}

/** A relay may always call its own node (`forceRemote`): it calls only the routes of the relay protocol. */
function ownAddresses({ url, aliases }: NodeSettings): readonly string[] {
  return [url, ...aliases].map((address) => {
    const { hostname, port, protocol } = new URL(address);
    return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  });
}
