/** The module that the lease renewer thread imports to use the same engine, through a port of its own. */
export { openStore } from './port-store.ts';
