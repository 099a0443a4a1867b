/** The SQLite store passes the contract. */
import { storeContract } from './contract.ts';
import { LOGS_ARE_FILES } from './logs.ts';
import { openFreshSqlite, removeFoldersAtTheEnd } from './open-sqlite.ts';

removeFoldersAtTheEnd();
storeContract('the SQLite store', openFreshSqlite, LOGS_ARE_FILES);
