/**
 * The waits of a script: `longhaul step --sleep` and `--event`.
 *
 * A wait that is over returns at once. Otherwise the verb is written to fd 3, and the exit status tells the script to
 * end: the node starts it again when the wait is over.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_SHORT_SLEEP_MS } from '../../../core/job/step.ts';
import { WAIT_STATUS } from '../../../runner/attempt/outcome.ts';
import { print, printNotice } from '../../output/screen.ts';
import { UsageError } from '../../table/command.ts';
import { TIMEOUT_STATUS } from './step-command.ts';
import type { ScriptStepFiles } from './step-exchange.ts';

export async function sleepStep(files: ScriptStepFiles, ms: number): Promise<number> {
  checkOutside('--sleep');
  if (ms <= MAX_SHORT_SLEEP_MS) {
    await delay(ms);
    return 0;
  }
  const name = files.nextName('sleep', 'sleep');
  if (files.step('sleep', name)?.status === 'done') return 0;
  files.write(`sleep ${ms / 1_000}`);
  return WAIT_STATUS;
}

/** Prints the data of the event as JSON. */
export async function awaitEvent(files: ScriptStepFiles, event: string, timeoutMs: number | null): Promise<number> {
  checkOutside('--event');
  const step = files.step('event', files.nextName('event', event));
  if (step?.status === 'done') {
    print(JSON.stringify(step.result));
    return 0;
  }
  if (step?.status === 'failed') {
    printNotice(`longhaul: event ${event} did not arrive in time`);
    return TIMEOUT_STATUS;
  }
  files.write(`wait ${event} ${timeoutMs === null ? 'forever' : timeoutMs / 1_000}`);
  return WAIT_STATUS;
}

/** A wait inside a step would wait for itself. */
function checkOutside(option: string): void {
  const { LONGHAUL_STEP: name } = process.env;
  if (name !== undefined)
    throw new UsageError(`longhaul step ${option} was called inside step ${name}: call it between steps`);
}
