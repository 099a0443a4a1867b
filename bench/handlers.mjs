/**
 * `npm run bench -- handlers`: what handlers cost beside their own work.
 *
 *   --part logs|isolation   only one of the two (default both)
 *   --quick                 few jobs, short rounds
 *   --rounds N              number of rounds of the isolation rows (default 3)
 *   --json                  print only the rows as JSON
 *
 * Log lines: 10 MB/s of lines of 1 KB into a data directory must raise the 99th percentile of the delay of the event loop
 * by less than 5 ms. Isolation: jobs per second, memory and added time of handlers in processes of their own, beside
 * BullMQ's sandboxed processors in the same run.
 */
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { measureIsolation } from './suites/handler-isolation.mjs';
import { measureLogDelay } from './suites/handler-logs.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    part: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
  },
  choices: { part: ['logs', 'isolation'] },
  numbers: ['rounds'],
});
const print = values.json ? console.error : console.log;
const isProvisional = await isBusy();
const parts = {
  logs: async () => {
    const log = await measureLogDelay(values.quick ? { rounds: 2, roundMs: 1_000 } : { rounds: 5, roundMs: 4_000 });
    const ms = (value) => `${value.toFixed(2)} ms`;
    print(`log lines: ${log.megabytesPerSecond.toFixed(1)} MB/s into a data directory`);
    print(`  p99 delay of the event loop: ${ms(log.silentMs)} without them, ${ms(log.loggedMs)} with them`);
    print(`  added: ${ms(log.addedMs)} (target: less than 5 ms)`);
    return { ...log, isReached: log.addedMs < 5 };
  },
  isolation: async () => {
    const size = values.quick ? { jobs: 1_000, warmUp: 200, single: 100 } : { jobs: 5_000, warmUp: 1_000, single: 300 };
    const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
    const isolation = await measureIsolation({ rounds, size, print });
    for (const { row, value, target, reached } of isolation.rows)
      print(`${row}: ${value.toFixed(2)} (target: ${target}) ${reached ? 'reached' : 'MISSED'}`);
    return { ...isolation, isReached: isolation.rows.every(({ reached }) => reached) };
  },
};

const results = [];
for (const name of Object.keys(parts).filter((each) => (values.part ?? each) === each))
  results.push({ name, ...(await parts[name]()), isProvisional });
if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
process.exitCode = results.every(({ isReached }) => isReached) ? 0 : 1;
