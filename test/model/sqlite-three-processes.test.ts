/**
 * Compares three processes on one SQLite file with the model: a cache of one process must never be stale.
 *
 * Not with a clock that is set back: a process that only reads need not know to the millisecond which time others have
 * used.
 */
import { removeFoldersAtTheEnd } from '../contract/open-sqlite.ts';
import { openOnThreeProcesses } from '../contract/three-processes.ts';
import { testSize } from '../support/test-size.ts';
import { modelSuite } from './model-suite.ts';

removeFoldersAtTheEnd();
modelSuite('the SQLite store of three processes', openOnThreeProcesses(), {
  profiles: ['few jobs', 'many jobs'],
  share: testSize({ small: 0.15, full: 0.1 }),
  ignoresProgress: true,
});
