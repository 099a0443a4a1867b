/**
 * Before every test file: when vitest itself is gone, so is the test, and with it the processes it started; at the end
 * of the file its fixtures are gone. A process runs file after file, so nothing here may count on being loaded anew.
 */
import { afterAll } from 'vitest';
import { endFixtures } from './processes.ts';

const endWithVitest = (): never => process.exit(1);

if (!process.listeners('disconnect').some(({ name }) => name === endWithVitest.name))
  process.once('disconnect', endWithVitest);
afterAll(endFixtures);
