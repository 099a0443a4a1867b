/**
 * Three processes on one SQLite file, held against the model: what one of them knows by heart must never be stale.
 *
 * Not with a clock that is set back: a process that only looks need not know to the millisecond what others have seen.
 */
import { removeFoldersAtTheEnd } from '../contract/open-sqlite.ts';
import { openOnThreeProcesses } from '../contract/three-processes.ts';
import { modelSuite } from './model-suite.ts';

removeFoldersAtTheEnd();
modelSuite('the SQLite store of three processes', openOnThreeProcesses(), {
  profiles: ['few jobs', 'many jobs'],
  share: 0.1,
  isDeafToProgress: true,
});
