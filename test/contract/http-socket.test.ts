/** The http store passes the contract over a unix socket: at small size the parts that make each kind of request. */
import { eachRequest, storeContract } from './contract.ts';
import { freshHttp } from './open-http.ts';
import { ANSWERS_AT_ONCE } from './waiting-claims.ts';

storeContract('the http store over a socket', freshHttp('socket'), {
  ...eachRequest('http.test.ts runs it over TCP, with the same requests'),
  ...ANSWERS_AT_ONCE,
  'store migration': 'the store of the node is migrated',
});
