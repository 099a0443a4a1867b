/**
 * `npm run bench -- handlers`: what handlers cost beside their own work.
 *
 *   --quick      few jobs, one round
 *   --rounds N   number of rounds (default 3)
 *   --json       print only the rows as JSON
 *
 * Isolation: jobs per second, memory and added time of handlers in processes of their own, beside BullMQ's sandboxed
 * processors in the same run.
 */
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { measureIsolation } from './suites/handler-isolation.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
  },
  numbers: ['rounds'],
});
const print = values.json ? console.error : console.log;
const size = values.quick ? { jobs: 1_000, warmUp: 200, single: 100 } : { jobs: 5_000, warmUp: 1_000, single: 300 };

const isProvisional = await isBusy();
const isolation = await measureIsolation({ rounds: Number(values.rounds ?? (values.quick ? 1 : 3)), size, print });
for (const { row, value, target, reached } of isolation.rows)
  print(`${row}: ${value.toFixed(2)} (target: ${target}) ${reached ? 'reached' : 'MISSED'}`);
if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
if (values.json)
  process.stdout.write(`${JSON.stringify([{ name: 'isolation', ...isolation, isProvisional }], null, 2)}\n`);
process.exitCode = isolation.rows.every(({ reached }) => reached) ? 0 : 1;
