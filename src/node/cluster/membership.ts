/**
 * This node among those that share its store: who it is, what it was told to do, and how it speaks with the others. On a
 * store that nobody shares it is alone, and everything here finds nobody.
 */
import type { IncomingMessage } from 'node:http';
import type { Store } from '../../core/ports/store.ts';
import type { NodeQueue } from '../../wire/node-view.ts';
import { idSource } from '../../worker/loop/id-source.ts';
import type { Home } from '../home.ts';
import { DrainSwitch } from './drain-switch.ts';
import type { NodeCaller } from './node-credential.ts';
import { nodeCaller } from './node-credential.ts';
import { workerIds } from './node-entry.ts';
import type { RegistryOptions } from './node-registry.ts';
import { NodeRegistry, nodeIdOf } from './node-registry.ts';
import { openNodeSecret } from './node-secret.ts';
import { OtherNodes } from './other-nodes.ts';

export interface MembershipOptions extends Pick<RegistryOptions, 'about' | 'onTrouble'> {
  readonly store: Store;
  readonly home: Home;
}

export interface Membership {
  readonly id: string;
  readonly drain: DrainSwitch;
  readonly others: OtherNodes;
  readonly registry: NodeRegistry;
  /** Ids of workers: where others share the store, one tells whose it is. */
  newId(): string;
  /** Which node proves itself by this header of a request to us; null for none. */
  nodeBy(authorization: string, request: Pick<IncomingMessage, 'method' | 'url'>): NodeCaller | null;
  stop(): Promise<void>;
}

/** `queues` is asked with each renewal. */
export async function openMembership(
  { store, home, ...options }: MembershipOptions,
  queues: () => readonly NodeQueue[],
): Promise<Membership> {
  const [id, secret, newId] = [nodeIdOf(home), await openNodeSecret(store.records), idSource()];
  const drain = new DrainSwitch();
  const registry = new NodeRegistry({ ...options, id, store, home, secret, drain, queues });
  await registry.start();
  const others = new OtherNodes({ id, store, secret, now: () => registry.now() });
  return {
    id,
    drain,
    others,
    registry,
    newId: store.isShared ? workerIds(id, newId) : newId,
    nodeBy: (authorization, { method = '', url = '' }) =>
      nodeCaller(secret, authorization, { to: id, method, path: url, now: registry.now() }),
    async stop() {
      others.close();
      await registry.stop();
    },
  };
}
