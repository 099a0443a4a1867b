import { describe, it } from 'vitest';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { KEYED_JOBS_MS, KEYED_SETTINGS, keepKeysApart } from './keyed-jobs.ts';

describe('over SQLite', () => {
  it(
    'a limit of one a key holds whoever is killed, every key gets on, and all slots come back',
    async () => {
      await keepKeysApart(await openFaultEnvironment({ address: aFolder(), settings: KEYED_SETTINGS }), 'SQLite');
    },
    KEYED_JOBS_MS,
  );
});
