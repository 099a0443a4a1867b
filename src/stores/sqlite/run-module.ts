/**
 * Runs a module in the engine's thread, as a client of the engine: the lease renewer, which needs a thread that a blocked
 * event loop of the main thread does not block, and starts none of its own here.
 */
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import { toThrown } from './engine/messages.ts';
import { openPortJobs } from './engine/port-store.ts';

interface ServedModule {
  serve(store: Pick<Store, 'jobs' | 'close'>, port: MessagePort): void;
}

export async function runModule(
  { module, port }: { readonly module: string; readonly port: MessagePort },
  join: (port: MessagePort) => void,
): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  join(port1);
  // When the engine ends, it closes the ports of its clients. An open port would keep the thread alive.
  port2.on('close', () => port.close());
  try {
    const { serve } = (await import(module)) as ServedModule;
    serve(openPortJobs(port2), port);
  } catch (error) {
    const { message, code } = toThrown(error);
    port.postMessage({ kind: 'failed', message, code });
    port2.close();
  }
}
