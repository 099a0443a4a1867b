/** The http store passes the contract over a unix socket. */
import { storeContract } from './contract.ts';
import { freshHttp } from './open-http.ts';

storeContract('the http store over a socket', freshHttp('socket'), {
  'store migration': 'the store of the node is migrated',
});
