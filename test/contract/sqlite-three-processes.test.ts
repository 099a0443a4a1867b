/** The SQLite store passes the contract for three processes on one file as it does for one. */
import { onlyAtFullSize, storeContract } from './contract.ts';
import { LOGS_ARE_FILES } from './logs.ts';
import { removeFoldersAtTheEnd } from './open-sqlite.ts';
import { openOnThreeProcesses } from './three-processes.ts';

/** The model compares these reads and refusals after the calls of three processes as well. */
const IN_THE_MODEL = new Set([
  'stale tokens',
  'lists',
  'counts and failure groups',
  'statistics',
  'throughput over time',
  'history',
]);

removeFoldersAtTheEnd();
storeContract('the SQLite store of three processes', openOnThreeProcesses(), {
  ...onlyAtFullSize('test/model/sqlite-three-processes.test.ts compares it', (part) => IN_THE_MODEL.has(part)),
  ...LOGS_ARE_FILES,
  'waiting claims': 'waiting-claims-sqlite.test.ts runs it on two engines: a signal cannot be sent to a process',
});
