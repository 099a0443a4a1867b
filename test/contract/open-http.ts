/** Opens fresh http stores for tests: each over a server of its own, with a memory store behind it. */
import type { Store } from '../../src/core/ports/store.ts';
import { openHttpStore } from '../../src/stores/http/open-http-store.ts';
import { openTrial } from '../server/trial-server.ts';
import type { OpenStore } from './contract.ts';

export function freshHttp(over: 'tcp' | 'socket'): OpenStore {
  return async ({ clock }) => {
    const server = await openTrial({ clock, role: 'admin' });
    const address = over === 'tcp' ? `http://127.0.0.1:${server.port}` : `unix:${server.socket}`;
    const store = await openHttpStore({ address, clock });
    return closingWith(store, () => server.stop());
  };
}

/** The server closes with its only client. */
function closingWith(store: Store, stop: () => Promise<void>): Store {
  return { ...store, close: () => store.close().then(stop) };
}
