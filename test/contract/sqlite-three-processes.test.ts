/** The SQLite store passes the contract for three processes on one file as it does for one. */
import { storeContract } from './contract.ts';
import { LOGS_ARE_FILES } from './logs.ts';
import { removeFoldersAtTheEnd } from './open-sqlite.ts';
import { openOnThreeProcesses } from './three-processes.ts';

removeFoldersAtTheEnd();
storeContract('the SQLite store of three processes', openOnThreeProcesses(), LOGS_ARE_FILES);
