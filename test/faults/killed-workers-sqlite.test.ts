import { describe, it } from 'vitest';
import { aFolder, openArena } from './arena.ts';
import { fenceTheFrozen, KILLED_WORKERS_MS, LEASE_MS, surviveKills } from './killed-workers.ts';

const anArena = () => openArena({ address: aFolder(), settings: { lease: LEASE_MS, heartbeat: LEASE_MS / 4 } });

describe('over SQLite', () => {
  it.each(['running', 'done'] as const)(
    'a worker frozen just before it settles is refused when its job is %s elsewhere, and what it said is kept',
    async (otherIs) => {
      await fenceTheFrozen(await anArena(), 'SQLite', otherIs);
    },
  );

  it(
    'workers killed at random lose nothing and finish nothing twice',
    async () => {
      await surviveKills(await anArena(), 'SQLite');
    },
    KILLED_WORKERS_MS,
  );
});
