/**
 * Seeded bugs: each a few words of a source file and what they are replaced by, with the suites that must notice.
 *
 * The words must stand in their file exactly once. A bug is named for what goes wrong, not for how. One that needs a
 * second change in the same file says so under `and`.
 */
import { clock } from './clock.mjs';
import { core } from './core.mjs';
import { dependencies } from './dependencies.mjs';
import { failover } from './failover.mjs';
import { limits } from './limits.mjs';
import { moving } from './migration.mjs';
import { nodes } from './nodes.mjs';
import { outcomes } from './outcomes.mjs';
import { redis } from './redis.mjs';
import { runner } from './runner.mjs';
import { schedules } from './schedules.mjs';
import { series } from './series.mjs';
import { server } from './server.mjs';
import { settings } from './settings.mjs';
import { sqlite } from './sqlite.mjs';
import { hooks } from './webhooks.mjs';
import { worker } from './worker.mjs';

export const mutants = [
  ...core,
  ...sqlite,
  ...redis,
  ...worker,
  ...outcomes,
  ...schedules,
  ...dependencies,
  ...limits,
  ...failover,
  ...hooks,
  ...nodes,
  ...settings,
  ...server,
  ...series,
  ...moving,
  ...runner,
  ...clock,
];
