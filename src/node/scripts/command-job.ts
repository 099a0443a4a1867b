/**
 * Jobs that are a command line instead of data for a script: `longhaul run -- make all`.
 *
 * Running any command is code execution, so a job's data are not enough: other callers can add, move or change them. A
 * record beside the job holds the hash of the allowed data, and only an admin may write records.
 * Invariant: a command runs only when its job's data are, byte for byte, those that were allowed under its id.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checked, integer, listOf, mapOf, object, orNull, text } from '../../core/input/check.ts';
import type { Failure, Job } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Records } from '../../core/ports/records.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';

/** Value of a queue's `script` whose jobs are command lines. */
export const COMMANDS_SCRIPT = 'longhaul:commands';
/** The attachment that holds the standard input of a command. */
export const STDIN_FILE = 'stdin';
const COMMAND_RECORD = 'command';

export interface CommandLine {
  readonly argv: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly umask: number;
  /** The SHA-256 of the attachment that the command reads as standard input; null for none. */
  readonly stdin: string | null;
}

const word = text({ max: 128 * 1024, pattern: /^[^\u0000]*$/, must: 'must have no NUL' });
const shape = object({
  argv: listOf(word, 10_000),
  cwd: text({ max: 4_096, pattern: /^\/[^\u0000]*$/, must: 'must be an absolute path' }),
  env: mapOf(word, 1_000),
  umask: integer(0, 0o777),
  stdin: orNull(text({ max: 64, pattern: /^[0-9a-f]{64}$/, must: 'must be a SHA-256' })),
});

/** Allows a command. Called before its job is added; `data` is the job's data as stored. */
export async function allowCommand(records: Records, id: string, data: string): Promise<void> {
  await records.put({ kind: COMMAND_RECORD, key: id, value: JSON.stringify({ sha256: hashOf(data) }) });
}

export async function forgetCommand(records: Records, id: string): Promise<void> {
  await records.delete(COMMAND_RECORD, id);
}

/** Returns the command with its program resolved, or why the job cannot run. */
export async function readCommand(records: Records, job: Job): Promise<CommandLine | Failure> {
  const record = await records.get(COMMAND_RECORD, job.id);
  const allowed = record === null ? null : (JSON.parse(record.value) as { sha256: string }).sha256;
  if (allowed !== hashOf(job.data))
    return notAllowed(job, allowed === null ? 'was never allowed' : 'was changed after it was allowed');
  try {
    const command = checked('a command', JSON.parse(job.data), shape);
    const { argv = [], cwd = '/', env = {}, umask = 0o077, stdin = null } = command;
    return findProgram({ argv, cwd, env, umask, stdin });
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return { group: 'bad command', message: error.message, detail: null };
  }
}

/** Returns why the command may not read its standard input, or null. A command is allowed with the same bytes only. */
export function stdinFailure(job: Job, { stdin }: CommandLine, files: readonly Attachment[]): Failure | null {
  if (stdin === null) return null;
  const file = files.find(({ name, direction }) => name === STDIN_FILE && direction === 'in');
  return file?.sha256 === stdin
    ? null
    : notAllowed(job, `has another attachment ${STDIN_FILE} than it was allowed with`);
}

function findProgram({ argv, cwd, env, umask, stdin }: CommandLine): CommandLine | Failure {
  const [name = '', ...rest] = argv;
  if (!isFolder(cwd)) return notFound(`the directory ${cwd} does not exist`);
  const folders = name.includes('/')
    ? [cwd]
    : (env['PATH'] ?? '/usr/bin:/bin').split(':').filter((each) => each !== '');
  const paths = folders.map((folder) =>
    name.includes('/') ? resolve(folder, name) : join(resolve(cwd, folder), name),
  );
  const program = name === '' ? undefined : paths.find(isProgram);
  return program === undefined
    ? notFound(`${name}: command not found`)
    : { argv: [program, ...rest], cwd, env, umask, stdin };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The same message as a shell's. */
function notFound(message: string): Failure {
  return { group: 'exit 127', message, detail: 'exit status 127' };
}

function notAllowed({ id }: Job, why: string): Failure {
  const message = `the command of job ${id} ${why}: only longhaul run, through the node's socket or its store, can add commands`;
  return { group: 'command not allowed', message, detail: null };
}

const hashOf = (data: string): string => createHash('sha256').update(data).digest('hex');
