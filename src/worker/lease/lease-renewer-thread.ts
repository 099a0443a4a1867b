/**
 * The lease renewer's thread: opens the store itself and renews the leases of every worker of this process that uses it.
 *
 * It must never wait for the main thread, which a handler may block for any length of time.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import type { LeaseRenewerEvent } from './lease-renewer.ts';
import type { FromLeaseRenewer, ToLeaseRenewer } from './thread-lease-renewer.ts';

interface StoreModule {
  openStore(options: unknown): Store | Promise<Store>;
}

const { module, options } = workerData as { module: string; options: unknown };
const port = parentPort;
if (port === null) throw new Error('lease-renewer-thread.js must be started as a worker thread');
const post = (message: FromLeaseRenewer): void => port.postMessage(message);
const loops = new Map<number, HeartbeatLoop>();

const kill = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

async function serve(store: Store, message: ToLeaseRenewer): Promise<void> {
  switch (message.kind) {
    case 'open': {
      const { key, plan } = message;
      const emit = (event: LeaseRenewerEvent) => post({ kind: 'event', key, event: portable(event) });
      const loop = new HeartbeatLoop({ plan, jobs: store.jobs, emit, kill });
      loops.set(key, loop);
      return loop.start();
    }
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
      return port?.close();
  }
}

/** Replaces an error by its message: its class does not survive the way to another thread. */
function portable(event: LeaseRenewerEvent): LeaseRenewerEvent {
  if (!('error' in event)) return event;
  return { ...event, error: new Error(String((event.error as Error)?.message ?? event.error)) };
}

try {
  const { openStore } = (await import(module)) as StoreModule;
  const store = await openStore(options);
  port.on('message', (message: ToLeaseRenewer) => void serve(store, message));
  post({ kind: 'ready' });
} catch (error) {
  post({
    kind: 'failed',
    message: String((error as Error)?.message ?? error),
    code: (error as { code?: string })?.code ?? null,
  });
  port.close();
}
