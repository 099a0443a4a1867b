/**
 * `longhaul step`: runs a command once per job, from inside a script, and makes the script's waits.
 *
 *     kept by an earlier attempt ──▶ its output is printed, its status returned
 *     not kept ──▶ the command runs ──▶ the node keeps its end ──▶ status returned
 *
 * It talks to the node through files of the attempt and fd 3 (node/scripts/steps/step-files.ts), so it needs no address
 * and no credential, and a node that is away finds the report later.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { checked, integer, listOf } from '../../../core/input/check.ts';
import { parseDuration } from '../../../core/input/duration.ts';
import { backoffMs } from '../../../core/lifecycle/backoff.ts';
import { type CheckedStep, checkName, checkSleep, checkStep } from '../../../library/steps/step-options.ts';
import { printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import { printOutput, type Ran, runCommand } from './step-command.ts';
import { ScriptStepFiles } from './step-exchange.ts';
import { awaitEvent, sleepStep } from './step-waits.ts';

export async function step(args: Args): Promise<number> {
  const [sleep, event] = [args.text('sleep'), args.text('event')];
  const given = [sleep, event, args.argv.includes('--') ? '' : undefined].filter((each) => each !== undefined);
  if (given.length !== 1) throw args.usageError('give one of NAME -- COMMAND, --sleep TIME and --event NAME');
  if (sleep !== undefined) return sleepStep(ScriptStepFiles.open(), checkSleep(sleep));
  const timeout = args.text('timeout');
  if (event !== undefined) {
    const timeoutMs = timeout === undefined ? null : durationOf('timeout', timeout);
    return awaitEvent(ScriptStepFiles.open(), checkName('event', event), timeoutMs);
  }
  return runStep(ScriptStepFiles.open(), parsePlan(args));
}

interface StepPlan extends CheckedStep {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Exit statuses that are kept. */
  readonly accepted: readonly number[];
}

function parsePlan(args: Args): StepPlan {
  const at = args.argv.indexOf('--');
  const [program, ...rest] = args.argv.slice(at + 1);
  const [name, ...more] = args.positionals.slice(0, args.positionals.length - (args.argv.length - at - 1));
  if (program === undefined || program === '') throw args.usageError('COMMAND is missing after --');
  if (name === undefined || more.length > 0)
    throw args.usageError(name === undefined ? 'NAME is missing before --' : 'put -- between NAME and COMMAND');
  const retries = args.number('retries', [0, 1_000]);
  const backoff = args.text('backoff')?.split(',');
  const timeout = args.text('timeout');
  const plan = checkStep(name, {
    ...(retries !== undefined && { retries }),
    ...(backoff !== undefined && { backoff }),
    ...(timeout !== undefined && { timeout }),
  });
  const accept = args.text('accept')?.split(',').map(Number) ?? [];
  return { ...plan, name, command: [program, ...rest], accepted: [0, ...checked('--accept', accept, statuses)] };
}

const statuses = listOf(integer(0, 255), 256);

function durationOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--${option} must be a duration such as 90s, 10m or 7d, not ${text}`);
  return ms;
}

async function runStep(files: ScriptStepFiles, plan: StepPlan): Promise<number> {
  const name = files.nextName('run', plan.name);
  const earlier = files.step('run', name);
  if (earlier?.status === 'done') return printOutput(files, earlier);
  for (let tries = 1; ; tries += 1) {
    const attempts = (earlier?.attempts ?? 0) + tries;
    const ran = await runCommand(files, { ...plan, name, attempts });
    const isDone = ran.failure === null && plan.accepted.includes(ran.exit);
    const failure = isDone ? null : (ran.failure ?? `exit status ${ran.exit}`);
    const refused = await files.report({ name, attempts, ran, failure });
    if (refused !== null) {
      printNotice(`longhaul: step ${name} was not kept: ${refused}`);
      return 1;
    }
    if (failure === null) return ran.exit;
    if (tries > plan.retries) return failedStatus(name, ran, failure);
    await delay(backoffMs(plan.backoff, tries, 0));
  }
}

function failedStatus(name: string, { exit }: Ran, failure: string): number {
  printNotice(`longhaul: step ${name} failed: ${failure}`);
  return exit === 0 ? 1 : exit;
}
