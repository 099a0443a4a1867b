/**
 * Starts one attempt of a script: the script is checked and its links resolved, the folder made, the mark put, and
 * only then the order given, so that a node that dies at any point finds what it left.
 *
 * What keeps it from starting and is no fault of the job becomes the queue's problem, and the job goes back.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure, RunningJob } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { parentsOf } from '../../files/attachments/parents.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import { putDeadline } from '../../runner/attempt/deadline.ts';
import type { Order } from '../../runner/attempt/start-request.ts';
import type { AttemptContext, RunOutcome } from '../../worker/attempt/run-outcome.ts';
import { noteStart } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import { checkScript } from './check-script.ts';
import type { CommandLine } from './command-job.ts';
import { COMMANDS_SCRIPT, readCommand } from './command-job.ts';
import { bringFiles, type Missing } from './missing-files.ts';
import { scriptEnvironment } from './script-environment.ts';
import type { ScriptHost } from './script-host.ts';
import { scriptLimits, scriptUser } from './script-order.ts';
import { listenTo } from './script-reports.ts';
import { keepSecrets } from './secrets.ts';
import { type Filling, fillWorkFolder, giveTo, makeFolders } from './workdir.ts';

export type Begun = { readonly attempt: Attempt } | { readonly outcome: RunOutcome };

/** The disk is full, or the machine has no room for another process: it may have some later. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

export async function startScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Begun> {
  try {
    const order = await prepare(host, job, context);
    if (typeof order === 'string') return waits(host, job, order);
    if ('failure' in order) return { outcome: { kind: 'fail', failure: order.failure } };
    if ('release' in order) return { outcome: { kind: 'release', reason: order.release } };
    const started = await host.runner.start(order, listenTo(host, job, context));
    if (started.ok) return { attempt: started.attempt };
    if (started.reason === 'refused') return waits(host, job, started.message);
    return { outcome: { kind: 'release', reason: started.message } };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof LonghaulError ? error.code === 'store-full' : NO_ROOM.has(code))
      return waits(host, job, message);
    throw error;
  }
}

function waits(host: ScriptHost, job: RunningJob, problem: string): Begun {
  host.onScriptProblem(job.queue, problem);
  return { outcome: { kind: 'release', reason: problem } };
}

/** The order, the problem that its queue has, or why this job can never be run. */
async function prepare(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Order | string | Missing> {
  const settings = host.settingsFor(job.queue);
  const folder = attemptFolder(host.home, job.id, job.attempt);
  // While the store is asked: without a mark, folders that are not needed after all are nobody's.
  const [files, program] = await Promise.all([host.attachments.list(job.id), programIn(folder, host, job)]);
  if (typeof program === 'string' || 'failure' in program) return program;
  const user = await scriptUser(settings.user);
  if (typeof user === 'string') return user;
  const missing = await bringFiles(
    host.attachments,
    { job, files: files.filter(({ direction }) => direction === 'in') },
    context,
  );
  if (missing !== null) return missing;
  const { script, realScript, argv } = program;
  noteStart(folder, job, { script, realScript, argv });
  host.marks.put(job, folder);
  const stage: Filling['stage'] = (given, into) => host.attachments.stage(given, into, settings.stage);
  const work = await fillWorkFolder(folder, job, { files, stage, parents: () => parentsOf(host.store, job) });
  if (user !== null) await giveTo(work, { user, home: host.home, id: job.id });
  if (host.store.isShared) putDeadline(folder, job.lease.ms);
  await keepSecrets(folder, Object.values(host.secretsOf(job.queue)));
  return { ...orderFor(host, job, { folder, work, program }), ...(user !== null && { user }) };
}

interface Program {
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  /** The command that the job is, where its queue has no script. */
  readonly command: CommandLine | null;
}

type ProgramOrProblem = Program | string | { readonly failure: Failure };

/** With the folders that it needs. */
async function programIn(folder: string, host: ScriptHost, job: RunningJob): Promise<ProgramOrProblem> {
  const program = await programFor(host, job);
  if (typeof program !== 'string' && 'argv' in program) makeFolders(folder);
  return program;
}

async function programFor(host: ScriptHost, job: RunningJob): Promise<ProgramOrProblem> {
  const { script: named, execPrefix } = host.settingsFor(job.queue);
  const script = host.ownScript(job.queue) ?? named;
  if (script === COMMANDS_SCRIPT) return commandFor(host, job, execPrefix);
  const checked = checkScript(script ?? '', [host.home.queues, ...host.node.scriptDirs]);
  if ('problem' in checked) return checked.problem;
  const argv = withPrefix(execPrefix, [checked.real], host.inherited['PATH']);
  return { script: script ?? '', realScript: checked.real, argv, command: null };
}

async function commandFor(
  host: ScriptHost,
  job: RunningJob,
  execPrefix: readonly string[],
): Promise<Program | { readonly failure: Failure }> {
  const command = await readCommand(host.store.records, job);
  if ('group' in command) return { failure: command };
  const argv = withPrefix(execPrefix, command.argv, host.inherited['PATH']);
  return { script: COMMANDS_SCRIPT, realScript: command.argv[0] ?? '', argv, command };
}

interface Wanted {
  readonly folder: string;
  readonly work: string;
  readonly program: Program;
}

function orderFor(host: ScriptHost, job: RunningJob, { folder, work, program }: Wanted): Order {
  const settings = host.settingsFor(job.queue);
  const { node, version, inherited } = host;
  const { argv, command } = program;
  const place = { work, script: program.script, realScript: program.realScript };
  const secrets = { ...host.secretsOf(job.queue), ...command?.env };
  return {
    folder,
    cwd: command?.cwd ?? work,
    argv,
    env: scriptEnvironment({ job, settings, node, place, version, inherited, secrets }),
    stdin: settings.stdin === 'data' && command === null ? join(work, 'data.json') : null,
    nice: settings.nice,
    umask: command?.umask ?? settings.umask,
    limits: scriptLimits(settings.limits),
  };
}

/** The prefix's first word is looked up here: nothing of it ever reaches a shell. */
function withPrefix(prefix: readonly string[], argv: readonly string[], path = '/usr/bin:/bin'): readonly string[] {
  const [first, ...rest] = prefix;
  if (first === undefined) return argv;
  if (first.startsWith('/')) return [first, ...rest, ...argv];
  const found = path
    .split(':')
    .map((folder) => join(folder, first))
    .find((file) => existsSync(file));
  return [found ?? join('/usr/bin', first), ...rest, ...argv];
}
