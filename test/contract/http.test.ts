/** The http store passes the contract over TCP. */
import { storeContract } from './contract.ts';
import { freshHttp } from './open-http.ts';

storeContract('the http store over TCP', freshHttp('tcp'), { 'store migration': 'the store of the node is migrated' });
