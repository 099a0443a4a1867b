/** Runs the command of a step, passes its output on while recording it, and prints the output of a kept step. */
import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { ListedStep, StepOutput, StreamContent } from '../../../node/scripts/steps/step-files.ts';
import { STREAMS, type Stream } from '../../../node/scripts/steps/step-files.ts';
import type { ScriptStepFiles } from './step-exchange.ts';

/** How a command ended. */
export interface Ran {
  /** As a shell reports it; 124 after the timeout. */
  readonly exit: number;
  /** Why it failed, if not by its exit status. */
  readonly failure: string | null;
  readonly ranMs: number;
}

export interface StepCommand {
  readonly name: string;
  readonly attempts: number;
  readonly command: readonly [string, ...string[]];
  readonly timeoutMs: number | null;
}

/** The status of timeout(1). */
export const TIMEOUT_STATUS = 124;
const [NOT_FOUND, NOT_EXECUTABLE] = [127, 126];
const SIGNAL_BASE = 128;
/** Between TERM and KILL. */
const GRACE_MS = 5_000;
/** Signals that end this process are passed on, and the end of the command is awaited. */
const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export async function runCommand(files: ScriptStepFiles, step: StepCommand): Promise<Ran> {
  const startedAt = performance.now();
  const [program, ...rest] = step.command;
  // A process group of its own: a timeout ends whatever the command has started. It reports progress as the script does.
  const child = spawn(program, rest, {
    detached: true,
    env: { ...process.env, LONGHAUL_STEP: step.name },
    stdio: ['inherit', 'pipe', 'pipe', ...files.pipes()],
  });
  const ended = new Promise<Pick<Ran, 'exit' | 'failure'>>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(notStarted(program, error)));
    child.once('exit', (code, signal) => resolve({ exit: statusOf(code, signal), failure: null }));
  });
  const isLate = endAfter(step.timeoutMs, (signal) => killGroup(child.pid, signal));
  const passOn = (signal: NodeJS.Signals): void => killGroup(child.pid, signal);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  try {
    const outputs = { stdout: child.stdout as Readable, stderr: child.stderr as Readable };
    const recorded = STREAMS.map((stream) =>
      record(outputs[stream], process[stream], files.streamPath(step.name, step.attempts, stream)),
    );
    const end = await ended;
    await Promise.all(recorded);
    const ranMs = Math.round(performance.now() - startedAt);
    if (!isLate.hasPassed()) return { ...end, ranMs };
    return { exit: TIMEOUT_STATUS, failure: `it took longer than ${step.timeoutMs} ms`, ranMs };
  } finally {
    isLate.cancel();
    for (const signal of PASSED_ON) process.off(signal, passOn);
  }
}

function notStarted(program: string, { code, message }: NodeJS.ErrnoException): Pick<Ran, 'exit' | 'failure'> {
  if (code === 'ENOENT') return { exit: NOT_FOUND, failure: `there is no program ${program}` };
  return { exit: NOT_EXECUTABLE, failure: `${program} could not be started: ${message}` };
}

const statusOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]);

/** Ends the group with TERM when the time is over, and with KILL after a grace period. */
function endAfter(ms: number | null, kill: (signal: NodeJS.Signals) => void) {
  let hasPassed = false;
  let timer: NodeJS.Timeout | undefined;
  if (ms !== null)
    timer = setTimeout(() => {
      hasPassed = true;
      kill('SIGTERM');
      timer = setTimeout(() => kill('SIGKILL'), GRACE_MS);
    }, ms);
  return { hasPassed: () => hasPassed, cancel: () => clearTimeout(timer) };
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The command has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function record(from: Readable, to: Writable, path: string): Promise<void> {
  const file = openSync(path, 'w', 0o600);
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
      await pass(to, chunk);
    }
  } finally {
    closeSync(file);
  }
}

/** Waits until the reader has taken it. A reader that has closed its end needs no more, but the step goes on. */
function pass(to: Writable, chunk: Buffer): Promise<void> {
  return new Promise((resolve) => to.write(chunk, () => resolve()));
}

/** Prints the output of a step that an earlier attempt kept. Returns its exit status. */
export async function printOutput(files: ScriptStepFiles, { name, result }: ListedStep): Promise<number> {
  const { exit, ...streams } = result as StepOutput;
  for (const stream of STREAMS) await printStream(files, { name, stream, content: streams[stream] });
  return exit;
}

async function printStream(
  files: ScriptStepFiles,
  { name, stream, content }: { name: string; stream: Stream; content: StreamContent },
): Promise<void> {
  const to = process[stream];
  if (typeof content === 'string') return pass(to, Buffer.from(content));
  if ('base64' in content) return pass(to, Buffer.from(content.base64, 'base64'));
  for await (const chunk of createReadStream(files.keptStreamPath(name, stream)) as AsyncIterable<Buffer>)
    await pass(to, chunk);
}
