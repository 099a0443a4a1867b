/**
 * What the scripts share: where the repository is, how a step is run and timed, how trouble is said.
 * Plain Node, no dependencies: these scripts run before anything is installed.
 */
import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const cacheFolder = join(root, 'node_modules', '.cache', 'longhaul');

/** Something a person has to put right. `exitCode` 1: the work failed; 2: this machine or call cannot do it. */
export class Trouble extends Error {
  constructor(message, { exitCode = 1, output = '' } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.output = output;
  }
}

export const bin = (name) => join(root, 'node_modules', '.bin', name);

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

export const say = (line) => console.log(line);

/**
 * For what asks nobody outside this machine. Where a machine names certificates of its own, every Node that starts reads them
 * first, with all that it has itself: that is longer than the rest of its start, and a run of the tests starts very many.
 */
export function leaveCertificatesOut() {
  delete process.env.NODE_EXTRA_CA_CERTS;
}

const children = new Set();
const lastSignalAt = new Map();
const sameSignalMs = 250;
let isForwarding = false;
let stoppedBy = null;

/** Signals meant for the script are passed to what it runs; the script then ends with that program's exit code. */
function forwardSignals() {
  if (isForwarding) return;
  isForwarding = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => forward(signal));
}

/**
 * One Ctrl-C must reach the program once, since a second one means "force". A terminal signals the whole group by
 * itself, and npm passes on what it got as well.
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
 * Runs a program. With `show` its output goes straight to the terminal, otherwise it is collected.
 * Resolves with { code, output }; a program that died of a signal has code 128 + its number. Whoever was told to stop
 * starts no other.
 */
export async function run(command, args, { show = false, isBehind = false, env = {}, cwd = root } = {}) {
  if (stoppedBy !== null) throw new Trouble(`Stopped by ${stoppedBy}.`, { exitCode: 128 + signalNumber(stoppedBy) });
  forwardSignals();
  return new Promise((resolve, reject) => {
    const stdio = show === true ? 'inherit' : [show === 'copy' ? 'inherit' : 'ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio });
    children.add(child);
    if (isBehind) child.on('spawn', () => stepBack(child.pid));
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    if (show === 'copy') {
      child.stdout.pipe(process.stdout, { end: false });
      child.stderr.pipe(process.stderr, { end: false });
    }
    child.on('error', (error) => {
      children.delete(child);
      reject(new Trouble(`Could not start ${command}: ${error.message}`, { exitCode: 2 }));
    });
    child.on('close', (code, signal) => {
      children.delete(child);
      resolve({ code: code ?? 128 + signalNumber(signal), output });
    });
  });
}

/** It leaves the cores to what is timed beside it. Where it is over already there is nothing to say. */
function stepBack(pid) {
  try {
    setPriority(pid, 5);
  } catch (error) {
    if (error.info?.code !== 'ESRCH') throw error;
  }
}

const signalNumber = (signal) => ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 })[signal] ?? 0;

const HELP = ['--help', '-h'];

/** The comment that opens a file, without its stars. */
export function helpOf(path) {
  const [, comment = ''] = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(readFileSync(path, 'utf8')) ?? [];
  return comment.replaceAll(/^ \* ?/gm, '');
}

/** Whether somebody asks for help; what follows a bare -- is for another program. */
export function isHelpAsked(words) {
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return own.some((word) => HELP.includes(word));
}

/**
 * Runs `work` when this file is the program that was started, and turns trouble into words and an exit code. What opens the
 * file is its help, unless `hasHelp` says that the program it starts has one of its own.
 */
export async function main(moduleUrl, work, { hasHelp = true } = {}) {
  if (fileURLToPath(moduleUrl) !== realpathSync(process.argv[1])) return;
  const args = process.argv.slice(2);
  try {
    if (hasHelp && isHelpAsked(args)) say(helpOf(fileURLToPath(moduleUrl)));
    else process.exitCode = (await work(args)) ?? 0;
  } catch (error) {
    process.exitCode = error instanceof Trouble ? error.exitCode : 1;
    if (error.output) console.error(error.output.trimEnd());
    console.error(error instanceof Trouble ? error.message : error);
  }
}
