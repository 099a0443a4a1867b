/**
 * The lease renewer's side of its port: renews the leases of every worker of this process that uses the store.
 *
 * It must never wait for the main thread, which a handler may block for any length of time.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import type { LeaseRenewerEvent } from './lease-renewer.ts';
import type { FromLeaseRenewer, ToLeaseRenewer } from './renewer-host.ts';

/** Serves the port until it is closed. */
export function serveRenewer(store: Pick<Store, 'jobs' | 'close'>, port: MessagePort): void {
  const loops = new Map<number, HeartbeatLoop>();
  const post = (message: FromLeaseRenewer): void => port.postMessage(message);
  const open = ({ key, plan }: ToLeaseRenewer & { kind: 'open' }): void => {
    const emit = (event: LeaseRenewerEvent) => post({ kind: 'event', key, event: portable(event) });
    const loop = new HeartbeatLoop({ plan, jobs: store.jobs, emit, kill });
    loops.set(key, loop);
    loop.start();
  };
  const receive = async (message: ToLeaseRenewer): Promise<void> => {
    switch (message.kind) {
      case 'open':
        return open(message);
      case 'update':
        return loops.get(message.key)?.send(message.update);
      case 'rename':
        return loops.get(message.key)?.rename(message.id);
      case 'show':
        return loops.get(message.key)?.show(message.info);
      case 'close':
        await loops.get(message.key)?.close();
        loops.delete(message.key);
        return post({ kind: 'closed', key: message.key });
      case 'end':
        await store.close();
        return port.close();
    }
  };
  port.on('message', (message: ToLeaseRenewer) => void receive(message));
  // The store's thread closes the port when it ends; the timers of a loop would keep it alive.
  port.on('close', () => {
    for (const loop of loops.values()) void loop.close();
  });
  post({ kind: 'ready' });
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Replaces an error by its message: its class does not survive the way to another thread. */
function portable(event: LeaseRenewerEvent): LeaseRenewerEvent {
  if (!('error' in event)) return event;
  return { ...event, error: new Error(String((event.error as Error)?.message ?? event.error)) };
}
