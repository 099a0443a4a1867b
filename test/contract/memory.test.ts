/** The memory store passes the contract. */
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { storeContract } from './contract.ts';

storeContract('the memory store', async ({ clock }) => openMemoryStore({ clock }));
