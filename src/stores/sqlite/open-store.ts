/** The module that the lease renewer thread imports to use the same engine, through a port of its own. */
import type { Store } from '../../core/ports/store.ts';
import type { PortStoreOptions } from './engine/port-store.ts';
import { openPortStore } from './engine/port-store.ts';

export const openStore = (options: unknown): Promise<Store> => openPortStore(options as PortStoreOptions);
