import { it } from 'vitest';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { ISOLATED_KILLS_MS, LEASE_MS, surviveIsolatedKills } from './isolated-kills.ts';

it(
  'over SQLite, workers and isolated processes killed at random lose no job, leave no process and cut no log',
  async () => {
    const home = aFolder();
    const settings = { lease: LEASE_MS, heartbeat: LEASE_MS / 4 };
    await surviveIsolatedKills(await openFaultEnvironment({ address: home, settings }), 'SQLite', home);
  },
  ISOLATED_KILLS_MS,
);
