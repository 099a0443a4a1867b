/** Opens the same store in another thread, from a copy of its options. */
import type { Store } from '../../core/ports/store.ts';
import type { RedisStoreOptions } from './client/options.ts';
import { openRedisStore } from './open-redis-store.ts';

export const openStore = (options: unknown): Promise<Store> => openRedisStore(options as RedisStoreOptions);
