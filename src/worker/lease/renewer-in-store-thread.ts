/** The lease renewer in the thread of a store that has one: the store imports this file there and calls `serve`. */
import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import { serveRenewer } from './serve-renewer.ts';

export function serve(store: Pick<Store, 'jobs' | 'close'>, port: MessagePort): void {
  serveRenewer(store, port);
}
