import { describe, it } from 'vitest';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { KEYED_JOBS_MS, KEYED_SETTINGS, runKeyedJobs } from './keyed-jobs.ts';

describe('over SQLite', () => {
  it(
    'a limit of one job per key holds while workers are killed, every key makes progress, and all slots are freed',
    async () => {
      await runKeyedJobs(await openFaultEnvironment({ address: aFolder(), settings: KEYED_SETTINGS }), 'SQLite');
    },
    KEYED_JOBS_MS,
  );
});
