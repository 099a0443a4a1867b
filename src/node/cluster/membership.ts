/**
 * This node among the nodes of a shared store: its identity, its orders, and its calls to the others. On a store that
 * is not shared there are no others.
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
  /** Creates worker ids; on a shared store they begin with the node's id. */
  newId(): string;
  /** Returns the node that this Authorization header proves; null for none. */
  nodeBy(authorization: string, request: Pick<IncomingMessage, 'method' | 'url'>): NodeCaller | null;
  stop(): Promise<void>;
}

/** `queues` is called at each renewal. */
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
