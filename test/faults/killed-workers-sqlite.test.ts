import { describe, it } from 'vitest';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { fenceTheFrozen, KILLED_WORKERS_MS, LEASE_MS, surviveKills } from './killed-workers.ts';

const aFaultEnvironment = () =>
  openFaultEnvironment({ address: aFolder(), settings: { lease: LEASE_MS, heartbeat: LEASE_MS / 4 } });

describe('over SQLite', () => {
  it.each(['running', 'done'] as const)(
    'a worker frozen just before it settles is refused when its job is %s elsewhere, and what it said is kept',
    async (otherIs) => {
      await fenceTheFrozen(await aFaultEnvironment(), 'SQLite', otherIs);
    },
  );

  it(
    'workers killed at random lose nothing and finish nothing twice',
    async () => {
      await surviveKills(await aFaultEnvironment(), 'SQLite');
    },
    KILLED_WORKERS_MS,
  );
});
