/**
 * Shared by the scripts: paths, running of programs, error messages, help.
 * Plain Node.js without dependencies: these scripts run before any package is installed.
 */
import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const cacheFolder = join(root, 'node_modules', '.cache', 'longhaul');

/** An error that the user must fix; it prints no stack trace. `exitCode` 1: the work failed; 2: bad usage or environment. */
export class UserError extends Error {
  constructor(message, { exitCode = 1, output = '' } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.output = output;
  }
}

export const bin = (name) => join(root, 'node_modules', '.bin', name);

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

export const print = (line) => console.log(line);

/**
 * Removes NODE_EXTRA_CA_CERTS from the environment. With it, every Node.js process parses all certificates at its start,
 * which takes longer than the rest of the start. The tests start many processes and call no other machine.
 */
export function dropExtraCertificates() {
  delete process.env.NODE_EXTRA_CA_CERTS;
}

const children = new Set();
const lastSignalAt = new Map();
const sameSignalMs = 250;
let isForwarding = false;
let stoppedBy = null;

/** Forwards the signals of the script to its child process; the script then exits with the code of the child. */
function forwardSignals() {
  if (isForwarding) return;
  isForwarding = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => forward(signal));
}

/**
 * Forwards each signal once, because a second Ctrl-C means "force". A terminal signals the whole process group itself, and
 * npm forwards its signals too.
 */
function forward(signal) {
  stoppedBy ??= signal;
  const isFromTerminal = signal === 'SIGINT' && process.stdin.isTTY;
  const isEcho = Date.now() - (lastSignalAt.get(signal) ?? 0) < sameSignalMs;
  lastSignalAt.set(signal, Date.now());
  if (isFromTerminal || isEcho) return;
  for (const child of children) child.kill(signal);
}

/**
 * Runs a program. With `show` its output goes to the terminal, otherwise it is collected. Resolves with { code, output };
 * a program that a signal killed has code 128 + the signal's number. After a stop signal it starts no more programs.
 */
export async function run(command, args, { show = false, isLowPriority = false, env = {}, cwd = root } = {}) {
  if (stoppedBy !== null) throw new UserError(`Stopped by ${stoppedBy}.`, { exitCode: 128 + signalNumber(stoppedBy) });
  forwardSignals();
  return new Promise((resolve, reject) => {
    const stdio = show === true ? 'inherit' : [show === 'copy' ? 'inherit' : 'ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio });
    children.add(child);
    if (isLowPriority) child.on('spawn', () => lowerPriority(child.pid));
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    if (show === 'copy') {
      child.stdout.pipe(process.stdout, { end: false });
      child.stderr.pipe(process.stderr, { end: false });
    }
    child.on('error', (error) => {
      children.delete(child);
      reject(new UserError(`Could not start ${command}: ${error.message}`, { exitCode: 2 }));
    });
    child.on('close', (code, signal) => {
      children.delete(child);
      resolve({ code: code ?? 128 + signalNumber(signal), output });
    });
  });
}

/** Leaves the cores to the timed suites that run at the same time. Ignores a process that has already ended. */
function lowerPriority(pid) {
  try {
    setPriority(pid, 5);
  } catch (error) {
    if (error.info?.code !== 'ESRCH') throw error;
  }
}

const signalNumber = (signal) => ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 })[signal] ?? 0;

const HELP = ['--help', '-h'];

/** Returns the header comment of a file as its help text. */
export function helpText(path) {
  const [, comment = ''] = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(readFileSync(path, 'utf8')) ?? [];
  return comment.replaceAll(/^ \* ?/gm, '');
}

/** Returns whether the arguments contain --help; arguments after a bare -- belong to another program. */
export function wantsHelp(args) {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return own.some((arg) => HELP.includes(arg));
}

/**
 * Runs `work` if this file is the started program, and maps errors to messages and exit codes. `--help` prints the header
 * comment of the file; with `hasHelp: false` the program handles --help itself.
 */
export async function main(moduleUrl, work, { hasHelp = true } = {}) {
  if (fileURLToPath(moduleUrl) !== realpathSync(process.argv[1])) return;
  const args = process.argv.slice(2);
  try {
    if (hasHelp && wantsHelp(args)) print(helpText(fileURLToPath(moduleUrl)));
    else process.exitCode = (await work(args)) ?? 0;
  } catch (error) {
    process.exitCode = error instanceof UserError ? error.exitCode : 1;
    if (error.output) console.error(error.output.trimEnd());
    console.error(error instanceof UserError ? error.message : error);
  }
}
