/**
 * `longhaul run -- COMMAND`: runs a command as a job. The node runs it, so it survives this terminal; this process only
 * follows the job and exits with its status.
 *
 *     following ──Ctrl-C──▶ detached, job keeps running ──Ctrl-C soon after──▶ cancelling, waiting for the end
 */
import { existsSync } from 'node:fs';
import { availableParallelism, constants, hostname } from 'node:os';
import { toJsonText } from '../../../core/input/json.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import { isRedisAddress } from '../../../library/store-address.ts';
import { nodeOn } from '../../../node/node-lock.ts';
import type { CommandLine } from '../../../node/scripts/command-job.ts';
import { allowCommand, COMMANDS_SCRIPT, forgetCommand } from '../../../node/scripts/command-job.ts';
import { idSource } from '../../../worker/loop/id-source.ts';
import { plainLine } from '../../output/clean-text.ts';
import { outputClosed } from '../../output/closed-output.ts';
import { fit, print, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import type { AttemptEnd } from '../../target/files.ts';
import { knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { newJobOptions } from './new-job.ts';
import type { PipedInput } from './piped-input.ts';
import { readPipedInput } from './piped-input.ts';
import { sendFiles } from './send-files.ts';
import { watchCommand } from './watch-command.ts';

const QUEUE = 'run';

export async function run(args: Args): Promise<number> {
  const command = parseCommand(args);
  return withTarget(args, async (target) => {
    checkNode(target);
    const queue = await commandQueue(args, target);
    const input = args.flag('no-stdin') ? null : await readPipedInput();
    const data = toJsonText('the command', { ...command, ...(input !== null && { stdin: input.sha256 }) });
    const id = await addCommand(args, target, { queue, data, input }).finally(() => input?.remove());
    if (args.flag('detach')) {
      print(id);
      return 0;
    }
    const job = await watchCommand(target, id);
    if (job !== null) return reportEnd(target, job);
    return outputClosed.aborted ? 0 : 128 + constants.signals.SIGINT;
  });
}

/** Variables that most commands need and that hold no secret. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses the command after `--`, with the current directory, the umask and the environment to pass. */
function parseCommand(args: Args): Omit<CommandLine, 'stdin'> {
  const at = args.argv.indexOf('--');
  const argv = at < 0 ? [] : args.argv.slice(at + 1);
  if (argv.length === 0 || args.positionals.length > argv.length)
    throw args.usageError(at < 0 && args.positionals.length > 0 ? 'put -- before COMMAND' : 'COMMAND is missing');
  const env = {
    ...passedVariables(),
    ...colourVariables(),
    ...Object.fromEntries(args.list('env').map(parseVariable)),
  };
  return { argv, cwd: process.cwd(), env, umask: process.umask() };
}

function passedVariables(): Record<string, string> {
  return Object.fromEntries(
    PASSED_VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  );
}

/** The output goes to a file first, where programs disable colours unless a variable forces them. */
function colourVariables(): Record<string, string> {
  return screenOf().hasColours ? { FORCE_COLOR: '1', CLICOLOR_FORCE: '1' } : {};
}

function parseVariable(text: string): [string, string] {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (!VARIABLE_NAME.test(name)) throw new UsageError(`--env ${text}: ${JSON.stringify(name)} is not a variable name`);
  if (/^(LONGHAUL|RQ)_/.test(name))
    throw new UsageError(`--env ${name}: names that begin with LONGHAUL_ or RQ_ are reserved for the node`);
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (value === undefined)
    throw new UsageError(`--env ${name}: ${name} is not set in this shell; set a value with --env ${name}=VALUE`);
  return [name, value];
}

/** A node that answers over HTTP runs; for a data directory on this machine its lock tells. */
function checkNode({ home, address }: Target): void {
  if (/^(unix|https?):/.test(address) || nodeOn(home.lock) !== null) return;
  throw new LonghaulError('refused', `no node runs on ${home.root}: start one with longhaul serve --home ${home.root}`);
}

/** A store in a database file of the data directory belongs to one machine; any other store may be shared. */
function isSharedStore({ address, home }: Target): boolean {
  return isRedisAddress(address) || (address.startsWith('unix:') && !existsSync(home.database));
}

/** Returns the queue for commands, and creates the default one. On a shared store each host has its own default queue. */
async function commandQueue(args: Args, target: Target): Promise<string> {
  const named = args.text('queue');
  const queue = named ?? (isSharedStore(target) ? `${QUEUE}.${hostname()}` : QUEUE);
  const isKnown = (await knownQueues(target)).includes(queue);
  if (isKnown && (await target.longhaul.queue(queue).settings()).script === COMMANDS_SCRIPT) return queue;
  if (isKnown && named === undefined)
    throw new LonghaulError(
      'refused',
      `queue ${queue} has a script of its own: choose a queue for commands with --queue`,
    );
  if (named !== undefined)
    throw new LonghaulError(
      'refused',
      `queue ${named} ${isKnown ? 'has a script of its own' : 'does not exist'}: create a queue for commands with longhaul queue NAME --create script=${COMMANDS_SCRIPT}`,
    );
  await target.longhaul.queue(queue).configure({ script: COMMANDS_SCRIPT, concurrency: availableParallelism() });
  return queue;
}

/** Allows the command before it adds the job, because a node may claim the job at once. */
async function addCommand(
  args: Args,
  target: Target,
  { queue, data, input }: { queue: string; data: string; input: PipedInput | null },
): Promise<string> {
  const options = newJobOptions(args);
  const id = options.id ?? idSource()();
  const { jobs, records } = target.longhaul.store;
  const [before = null] = await jobs.find([id]);
  if (before !== null && before.data !== data)
    throw new LonghaulError('refused', `job ${id} exists already and runs another command: choose another --id`);
  if (before !== null && before.state !== 'draft') return id;
  await allowCommand(records, id, data);
  try {
    const draft = input === null ? {} : { draft: true };
    await target.longhaul.queue(queue).add(JSON.parse(data), { name: nameOf(data), ...options, ...draft, id });
  } catch (error) {
    await forgetCommand(records, id);
    throw error;
  }
  if (input !== null) await sendInput(target, id, input);
  return id;
}

/** The job is a draft until its input is attached, so that no attempt starts without it. */
async function sendInput(target: Target, id: string, { path }: PipedInput): Promise<void> {
  await sendFiles(target, id, [path]);
  const answer = await target.longhaul.commit(id);
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
}

const MAX_NAME = 80;

/** Returns the command line as the name of the job, so that lists show it. */
function nameOf(data: string): string {
  return fit(plainLine((JSON.parse(data) as CommandLine).argv.join(' ')), MAX_NAME);
}

async function reportEnd(target: Target, job: JobView): Promise<number> {
  if (job.state === 'done') return 0;
  const end = await target.files.endOf({ id: job.id, attempt: job.attempt });
  printNotice(`longhaul: job ${job.id} ${plainLine(endText(job, end))}`);
  if (job.state === 'cancelled') return 128 + constants.signals.SIGINT;
  const status = end?.exit ?? statusOfGroup(job.failure?.group ?? '');
  return status === 0 ? 1 : status;
}

function endText({ state, failure, reason }: JobView, end: AttemptEnd | null): string {
  if (state === 'cancelled') return 'was cancelled';
  if (end === null || end.exit === null || end.exit === 0) return `failed: ${failure?.message ?? reason}`;
  return end.signal === null ? `failed: exit status ${end.exit}` : `failed: killed by ${end.signal}`;
}

/** Returns the exit status for a command that never started: its failure group is the status that a shell would return. */
function statusOfGroup(group: string): number {
  const [, status] = /^exit (\d{1,3})$/.exec(group) ?? [];
  return status === undefined ? 1 : Number(status);
}
