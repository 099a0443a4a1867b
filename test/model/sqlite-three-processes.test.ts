/** Three processes on one SQLite file, held against the model: what one of them knows by heart must never be stale. */
import { removeFoldersAtTheEnd } from '../contract/open-sqlite.ts';
import { openOnThreeProcesses } from '../contract/three-processes.ts';
import { modelSuite } from './model-suite.ts';

removeFoldersAtTheEnd();
modelSuite('the SQLite store of three processes', openOnThreeProcesses(), {
  share: 0.1,
  isDeafToProgress: true,
});
