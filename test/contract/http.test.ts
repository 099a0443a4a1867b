/** The http store passes the contract over TCP. */
import { storeContract } from './contract.ts';
import { freshHttp } from './open-http.ts';
import { ANSWERS_AT_ONCE } from './waiting-claims.ts';

storeContract('the http store over TCP', freshHttp('tcp'), {
  ...ANSWERS_AT_ONCE,
  'store migration': 'the store of the node is migrated',
});
