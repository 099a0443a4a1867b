/**
 * `longhaul run -- COMMAND`: a command line as a job. It runs under the node, so it outlives this terminal; this only
 * looks on, and ends as it ends.
 *
 *     following ──Ctrl-C──▶ left running, a moment to think ──Ctrl-C──▶ cancelled, followed to its end
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
import { fit, print, remark } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import type { AttemptEnd } from '../../target/files.ts';
import { knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { commandGiven } from './command-given.ts';
import { newJobOptions } from './new-job.ts';
import { watchCommand } from './watch-command.ts';

const QUEUE = 'run';

export async function run(call: Call): Promise<number> {
  const command = commandGiven(call);
  return withTarget(call, async (target) => {
    checkNode(target);
    const queue = await commandQueue(call, target);
    const id = await addCommand(call, target, { queue, data: toJsonText('the command', command) });
    if (call.flag('detach')) {
      print(id);
      return 0;
    }
    const job = await watchCommand(target, id);
    if (job !== null) return sayEnd(target, job);
    return outputClosed.aborted ? 0 : 128 + constants.signals.SIGINT;
  });
}

/** Over HTTP it answers, so it runs; on a home of this machine its lock says. */
function checkNode({ home, address }: Target): void {
  if (/^(unix|https?):/.test(address) || nodeOn(home.lock) !== null) return;
  throw new LonghaulError(
    'refused',
    `no node runs on ${home.root}, so nothing would run the command: start one with longhaul serve --home ${home.root}`,
  );
}

/** A home whose store is a file of its own has one machine. */
function isOfManyMachines({ address, home }: Target): boolean {
  return isRedisAddress(address) || (address.startsWith('unix:') && !existsSync(home.database));
}

/** On a store that several machines share, the queue of commands of this one. */
async function commandQueue(call: Call, target: Target): Promise<string> {
  const named = call.text('queue');
  const queue = named ?? (isOfManyMachines(target) ? `${QUEUE}.${hostname()}` : QUEUE);
  const isKnown = (await knownQueues(target)).includes(queue);
  if (isKnown && (await target.longhaul.queue(queue).settings()).script === COMMANDS_SCRIPT) return queue;
  if (isKnown && named === undefined)
    throw new LonghaulError('refused', `queue ${queue} has a script of its own; --queue names another for commands`);
  if (named !== undefined)
    throw new LonghaulError(
      'refused',
      `queue ${named} ${isKnown ? 'has a script of its own' : 'does not exist'}; longhaul queue NAME --create script=${COMMANDS_SCRIPT} makes one for commands`,
    );
  await target.longhaul.queue(queue).configure({ script: COMMANDS_SCRIPT, concurrency: availableParallelism() });
  return queue;
}

/** Allowed first and added then: a node may claim it at once. */
async function addCommand(
  call: Call,
  target: Target,
  { queue, data }: { queue: string; data: string },
): Promise<string> {
  const options = newJobOptions(call);
  const id = options.id ?? idSource()();
  const { jobs, records } = target.longhaul.store;
  const [before = null] = await jobs.find([id]);
  if (before !== null && before.data !== data)
    throw new LonghaulError('refused', `there is a job ${id} already, and it is another command`);
  if (before !== null) return id;
  await allowCommand(records, id, data);
  try {
    await target.longhaul.queue(queue).add(JSON.parse(data), { name: nameOf(data), ...options, id });
  } catch (error) {
    await forgetCommand(records, id);
    throw error;
  }
  return id;
}

const LONGEST_NAME = 80;

/** So that lists show which command it is. */
function nameOf(data: string): string {
  return fit(plainLine((JSON.parse(data) as CommandLine).argv.join(' ')), LONGEST_NAME);
}

async function sayEnd(target: Target, job: JobView): Promise<number> {
  if (job.state === 'done') return 0;
  const end = await target.files.endOf({ id: job.id, attempt: job.attempt });
  remark(`longhaul: job ${job.id} ${plainLine(howItEnded(job, end))}`);
  if (job.state === 'cancelled') return 128 + constants.signals.SIGINT;
  const status = end?.exit ?? statusOfGroup(job.failure?.group ?? '');
  return status === 0 ? 1 : status;
}

function howItEnded({ state, failure, reason }: JobView, end: AttemptEnd | null): string {
  if (state === 'cancelled') return 'was cancelled';
  if (end === null || end.exit === null || end.exit === 0) return `failed: ${failure?.message ?? reason}`;
  return end.signal === null ? `failed: exit status ${end.exit}` : `failed: killed by ${end.signal}`;
}

/** Of a command that never began, the group of its failure says how a shell would have ended. */
function statusOfGroup(group: string): number {
  const [, status] = /^exit (\d{1,3})$/.exec(group) ?? [];
  return status === undefined ? 1 : Number(status);
}
