import { describe, it } from 'vitest';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { fenceFrozenWorker, KILLED_WORKERS_MS, LEASE_MS, surviveKills } from './killed-workers.ts';

const aFaultEnvironment = () =>
  openFaultEnvironment({ address: aFolder(), settings: { lease: LEASE_MS, heartbeat: LEASE_MS / 4 } });

describe('over SQLite', () => {
  it.each(['running', 'done'] as const)(
    'the settlement of a frozen worker is refused and kept when its job is %s elsewhere',
    async (otherIs) => {
      await fenceFrozenWorker(await aFaultEnvironment(), 'SQLite', otherIs);
    },
  );

  it(
    'workers killed at random lose no job and complete none twice',
    async () => {
      await surviveKills(await aFaultEnvironment(), 'SQLite');
    },
    KILLED_WORKERS_MS,
  );
});
