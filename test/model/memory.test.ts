/** Compares the memory store with the model. */
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { modelSuite } from './model-suite.ts';

modelSuite('the memory store', async ({ clock }) => openMemoryStore({ clock }));
