/**
 * `npm run bench -- handlers`: what handlers cost beside their own work.
 *
 *   --quick   short rounds
 *   --json    print only the rows as JSON
 *
 * Log lines: 10 MB/s of lines of 1 KB into a data directory must raise the 99th percentile of the delay of the event loop
 * by less than 5 ms.
 */
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { measureLogDelay } from './suites/handler-logs.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const print = values.json ? console.error : console.log;

const isProvisional = await isBusy();
const log = await measureLogDelay(values.quick ? { rounds: 2, roundMs: 1_000 } : { rounds: 5, roundMs: 4_000 });
const ms = (value) => `${value.toFixed(2)} ms`;
print(`log lines: ${log.megabytesPerSecond.toFixed(1)} MB/s into a data directory`);
print(`  p99 delay of the event loop: ${ms(log.silentMs)} without them, ${ms(log.loggedMs)} with them`);
print(`  added: ${ms(log.addedMs)} (target: less than 5 ms)`);
if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
if (values.json) process.stdout.write(`${JSON.stringify([{ name: 'log lines', ...log, isProvisional }], null, 2)}\n`);
process.exitCode = log.addedMs < 5 ? 0 : 1;
