/**
 * Setup of every test file: the test ends with vitest itself, and with it the processes it started. At the end of the
 * file its fixtures are stopped and its open resources closed. A process runs many files, so this module must not rely
 * on being loaded again.
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
