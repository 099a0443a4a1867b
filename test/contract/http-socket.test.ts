/** The http store passes the contract over a unix socket: at small size the parts that use each kind of request. */
import { onlyAtFullSize, storeContract } from './contract.ts';
import { freshHttp } from './open-http.ts';

const AT_EVERY_SIZE = new Set([
  'adding',
  'texts and names',
  'claiming',
  'heartbeats',
  'settling',
  'cancelling',
  'workers',
  'lists',
  'records',
  'logs of handlers',
  'logs kept in the store',
  'the clock',
  'events',
  'lifetime',
]);

storeContract('the http store over a socket', freshHttp('socket'), {
  ...onlyAtFullSize('http.test.ts runs it over TCP, with the same requests', (part) => !AT_EVERY_SIZE.has(part)),
  'store migration': 'the store of the node is migrated',
});
