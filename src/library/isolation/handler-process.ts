/**
 * The entry of an isolated process: `handler-process.js ADDRESS NONCE`. Its stdout is the log, fd 3 carries messages.
 *
 * It ends when the worker closes fd 3. Signals to end it are ignored: the worker sends a message, and kills it after the
 * grace. A service manager that signals every process of the service must not cut a drain short.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { createFrameReader, toFrame, toJsonFrame } from './frames.ts';
import type { ToIsolate } from './messages.ts';
import { markOf } from './output-marks.ts';
import { serveHandler } from './serve-handler.ts';

const MESSAGES_FD = 3;
const STDOUT_FD = 1;
const [address = '', nonce = ''] = process.argv.slice(2);
const mark = markOf(nonce);
const link = new Socket({ fd: MESSAGES_FD });

for (const stream of [process.stdout, process.stderr]) writeAtOnce(stream);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const served = serveHandler(address, {
  send: (message) => void link.write(message.kind === 'outcome' ? toJsonFrame(message) : toFrame(message)),
  log: (line) => void process.stdout.write(line.endsWith('\n') ? line : `${line}\n`),
  markOutput,
  exit: () => void link.end(() => process.exit(0)),
});
link.on(
  'data',
  createFrameReader((message) => served.receive(message as ToIsolate)),
);
link.on('error', () => process.exit(0));
link.on('close', () => process.exit(0));

/** Makes writes to a pipe block, so that output keeps its order and none is lost when the process is killed. */
function writeAtOnce(stream: NodeJS.WriteStream): void {
  const { _handle } = stream as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } };
  _handle?.setBlocking?.(true);
}

/** The handler may have closed stdout. */
function markOutput(): boolean {
  try {
    return writeSync(STDOUT_FD, mark) === mark.length;
  } catch {
    return false;
  }
}
