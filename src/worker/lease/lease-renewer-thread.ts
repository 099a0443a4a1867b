/** The lease renewer's own thread: opens the store itself and serves the main thread. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import type { FromLeaseRenewer } from './renewer-host.ts';
import { serveRenewer } from './serve-renewer.ts';

interface StoreModule {
  openStore(options: unknown): Store | Promise<Store>;
}

const { module, options } = workerData as { module: string; options: unknown };
const port = parentPort;
if (port === null) throw new Error('lease-renewer-thread.js must be started as a worker thread');

try {
  const { openStore } = (await import(module)) as StoreModule;
  serveRenewer(await openStore(options), port);
} catch (error) {
  port.postMessage({
    kind: 'failed',
    message: String((error as Error)?.message ?? error),
    code: (error as { code?: string })?.code ?? null,
  } satisfies FromLeaseRenewer);
  port.close();
}
