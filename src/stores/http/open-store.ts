/** The module that the lease renewer thread imports to open the same store from a copy of its options. */
import type { Store } from '../../core/ports/store.ts';
import { openHttpStore } from './open-http-store.ts';
import type { HttpStoreOptions } from './options.ts';

export const openStore = (options: unknown): Promise<Store> => openHttpStore(options as HttpStoreOptions);
