/** Compares the SQLite store with the model. */
import { openFreshSqlite, removeFoldersAtTheEnd } from '../contract/open-sqlite.ts';
import { modelSuite } from './model-suite.ts';

removeFoldersAtTheEnd();
modelSuite('the SQLite store', openFreshSqlite);
