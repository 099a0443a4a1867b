/**
 * Seeded bugs: each replaces the text `find` of a source file, and its suites must fail.
 *
 * The text must occur exactly once in its file. A name states what goes wrong, not how. A bug that needs a second change in
 * the same file has it under `and`.
 */
import { clock } from './clock.mjs';
import { compat } from './compat.mjs';
import { core } from './core.mjs';
import { dependencies } from './dependencies.mjs';
import { failover } from './failover.mjs';
import { fastPath } from './fast-path.mjs';
import { files } from './files.mjs';
import { isolation } from './isolation.mjs';
import { limits } from './limits.mjs';
import { logs } from './logs.mjs';
import { migration } from './migration.mjs';
import { nodes } from './nodes.mjs';
import { outbox } from './outbox.mjs';
import { outcomes } from './outcomes.mjs';
import { redis } from './redis.mjs';
import { relay } from './relay.mjs';
import { rq } from './rq.mjs';
import { runner } from './runner.mjs';
import { schedules } from './schedules.mjs';
import { scriptSteps } from './script-steps.mjs';
import { series } from './series.mjs';
import { server } from './server.mjs';
import { settings } from './settings.mjs';
import { sqlite } from './sqlite.mjs';
import { statistics } from './statistics.mjs';
import { stepViews } from './step-views.mjs';
import { steps } from './steps.mjs';
import { telemetry } from './telemetry.mjs';
import { testing } from './testing.mjs';
import { throttleRates } from './throttle-rates.mjs';
import { webhooks } from './webhooks.mjs';
import { worker } from './worker.mjs';

export const mutants = [
  ...telemetry,
  ...testing,
  ...core,
  ...sqlite,
  ...redis,
  ...fastPath,
  ...worker,
  ...isolation,
  ...outcomes,
  ...outbox,
  ...schedules,
  ...dependencies,
  ...limits,
  ...throttleRates,
  ...failover,
  ...webhooks,
  ...nodes,
  ...relay,
  ...rq,
  ...settings,
  ...server,
  ...series,
  ...statistics,
  ...logs,
  ...steps,
  ...stepViews,
  ...scriptSteps,
  ...migration,
  ...compat,
  ...runner,
  ...clock,
  ...files,
];
