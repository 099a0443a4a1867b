/**
 * Starts one attempt of a script. It checks the script and resolves its links, creates the directories, and puts the
 * registry entry. Only then the runner gets the request, so that a node that dies at any point finds what it left.
 *
 * A cause that is not the job's fault becomes the queue's problem, and the job is released.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure, RunningJob } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { parentsOf } from '../../files/attachments/parents.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import { writeDeadline } from '../../runner/attempt/deadline.ts';
import type { StartRequest } from '../../runner/attempt/start-request.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { noteStart, readAttemptRecord } from '../attempts/attempt-record.ts';
import { attemptFolder, scriptFolders } from '../home.ts';
import { isRqQueue, rqLogHeader, scriptPath } from '../queues/rq-queue.ts';
import { checkScript } from './check-script.ts';
import type { CommandLine } from './command-job.ts';
import { COMMANDS_SCRIPT, readCommand } from './command-job.ts';
import { fetchFiles, type MissingFiles } from './missing-files.ts';
import { rqMessage, scriptEnvironment } from './script-environment.ts';
import type { ScriptHost } from './script-host.ts';
import { scriptLimits, scriptUser } from './script-order.ts';
import { watchOptionsFor } from './script-reports.ts';
import { saveSecrets } from './secrets.ts';
import { endWaits } from './steps/wait-steps.ts';
import { earlierSteps, writeSteps } from './steps/write-steps.ts';
import { changeOwner, createFolders, fillWorkdir, KEPT_ON_RESUME, type WorkdirContents } from './workdir.ts';

export type StartResult = { readonly attempt: Attempt } | { readonly outcome: AttemptOutcome };

/** The disk is full, or the machine cannot start another process: this may pass. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

export async function startScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<StartResult> {
  try {
    const order = await prepare(host, job, context);
    if (typeof order === 'string') return releaseWithProblem(host, job, order);
    if ('failure' in order) return { outcome: { kind: 'fail', failure: order.failure } };
    if ('release' in order) return { outcome: { kind: 'release', reason: order.release } };
    const started = await host.runner.start(order, watchOptionsFor(host, job, context));
    if (started.ok) return { attempt: started.attempt };
    if (started.reason === 'refused') return releaseWithProblem(host, job, started.message);
    return { outcome: { kind: 'release', reason: started.message } };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof LonghaulError ? error.code === 'store-full' : NO_ROOM.has(code))
      return releaseWithProblem(host, job, message);
    throw error;
  }
}

function releaseWithProblem(host: ScriptHost, job: RunningJob, problem: string): StartResult {
  host.onScriptProblem(job.queue, problem);
  return { outcome: { kind: 'release', reason: problem } };
}

/** Returns the start request, the problem of the queue, or why this job cannot run. */
async function prepare(
  host: ScriptHost,
  job: RunningJob,
  context: AttemptContext,
): Promise<StartRequest | string | MissingFiles> {
  const settings = host.settingsFor(job.queue);
  const folder = attemptFolder(host.home, job.id, job.attempt);
  // Concurrently with the read of the store: without a registry entry, unused directories belong to no attempt.
  const [files, program] = await Promise.all([host.attachments.list(job.id), programIn(folder, host, job)]);
  if (typeof program === 'string' || 'failure' in program) return program;
  const user = await scriptUser(settings.user);
  if (typeof user === 'string') return user;
  const earlier = earlierSteps(await endWaits(host, job, context), files);
  const inputs = files.filter(({ direction }) => direction === 'in');
  const missing = await fetchFiles(host.attachments, { job, files: [...inputs, ...(earlier?.outputs ?? [])] }, context);
  if (missing !== null) return missing;
  const { script, realScript, argv } = program;
  noteStart(
    folder,
    job,
    { script, realScript, argv },
    job.suspension === null ? null : await readAttemptRecord(folder),
  );
  host.registry.put(job, folder);
  const stage: WorkdirContents['stage'] = (given, into) => host.attachments.stage(given, into, settings.stage);
  const message = isRqQueue(settings) ? rqMessage(job, host.node) : null;
  const work = await fillWorkdir(folder, job, { files, stage, parents: () => parentsOf(host.store, job), message });
  if (earlier !== null) await writeSteps(work, earlier, host.blobs);
  if (user !== null) await changeOwner(work, { user, home: host.home, id: job.id });
  if (host.store.isShared) writeDeadline(folder, job.lease.ms);
  await saveSecrets(folder, Object.values(host.secretsOf(job.queue)));
  return { ...orderFor(host, job, { folder, work, program }), ...(user !== null && { user }) };
}

interface Program {
  /** As configured. */
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  /** The job's command line, for a queue without a script. */
  readonly command: CommandLine | null;
}

type ProgramOrProblem = Program | string | { readonly failure: Failure };

/** Also creates the directories that the program needs. */
async function programIn(folder: string, host: ScriptHost, job: RunningJob): Promise<ProgramOrProblem> {
  const program = await programFor(host, job);
  if (typeof program !== 'string' && 'argv' in program)
    createFolders(folder, job.suspension === null ? [] : KEPT_ON_RESUME);
  return program;
}

async function programFor(host: ScriptHost, job: RunningJob): Promise<ProgramOrProblem> {
  const settings = host.settingsFor(job.queue);
  const { execPrefix } = settings;
  const script = host.ownScript(job.queue) ?? scriptPath(host.home, settings);
  if (script === COMMANDS_SCRIPT) return commandFor(host, job, execPrefix);
  const checked = checkScript(script ?? '', scriptFolders(host.home, host.node.scriptDirs));
  if ('problem' in checked) return checked.problem;
  const argv = withPrefix(execPrefix, [checked.real], host.inherited['PATH']);
  const configured = isRqQueue(settings) ? settings.script : script;
  return { script: configured ?? '', realScript: checked.real, argv, command: null };
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

interface StartPlan {
  readonly folder: string;
  readonly work: string;
  readonly program: Program;
}

function orderFor(host: ScriptHost, job: RunningJob, { folder, work, program }: StartPlan): StartRequest {
  const settings = host.settingsFor(job.queue);
  const { node, version, inherited } = host;
  const { argv, command } = program;
  const paths = { work, script: program.script, realScript: program.realScript };
  const secrets = { ...host.secretsOf(job.queue), ...command?.env };
  return {
    folder,
    cwd: command?.cwd ?? work,
    argv,
    env: scriptEnvironment({ job, settings, node, paths, version, inherited, secrets }),
    stdin: settings.stdin === 'data' && command === null ? join(work, 'data.json') : null,
    nice: settings.nice,
    umask: command?.umask ?? settings.umask,
    limits: scriptLimits(settings.limits),
    ...(isRqQueue(settings) && command === null && { logHeader: rqLogHeader(program.realScript, new Date()) }),
  };
}

/** Resolves the first word of the prefix here: the prefix never reaches a shell. */
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
