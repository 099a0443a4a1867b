/**
 * Before every test file: when vitest itself is gone, so is the test, and with it the processes it started; at the end
 * of the file its fixtures are gone, and what it opened is closed. A process runs file after file, so nothing here may
 * count on being loaded anew.
 */
import { afterAll } from 'vitest';
import { closeAll } from './at-the-end.ts';
import { endFixtures } from './processes.ts';

const endWithVitest = (): never => process.exit(1);

if (!process.listeners('disconnect').some(({ name }) => name === endWithVitest.name))
  process.once('disconnect', endWithVitest);
afterAll(async () => {
  try {
    await closeAll();
  } finally {
    await endFixtures();
  }
});
