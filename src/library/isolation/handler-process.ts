/**
 * The entry of an isolated process: `handler-process.js ADDRESS NONCE`. Its stdout is the log, fd 3 carries messages.
 *
 * It ends when the worker closes fd 3. Signals to end it are ignored: the worker sends a message, and kills it after the
 * grace. A service manager that signals every process of the service must not cut a drain short.
 */
import { writeSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { createFrameReader, toFrame, toJsonFrame } from './frames.ts';
import type { OutcomeMessage, ToIsolate } from './messages.ts';
import { markOf } from './output-marks.ts';
import { serveHandler } from './serve-handler.ts';

const MESSAGES_FD = 3;
const READ_BYTES = 64 * 1024;
const STDOUT_FD = 1;
/** So many bytes are written to a socket at once: output of other processes cannot come between them. */
const MAX_MARK_BYTES = 16 * 1024;
const [address = '', nonce = ''] = process.argv.slice(2);
const mark = markOf(nonce);
const markAlone = toJsonFrame(null, mark);
const receive = createFrameReader((message) => served.receive(message as ToIsolate));
const options: SocketConstructorOpts & ConnectOpts = {
  fd: MESSAGES_FD,
  // One buffer for all reads: the default allocates 64 KB for each.
  onread: {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback(size, buffer) {
      receive(Buffer.from(buffer.subarray(0, size)));
      return true;
    },
  },
};
const link = new Socket(options);

for (const stream of [process.stdout, process.stderr]) writeAtOnce(stream);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const served = serveHandler(address, {
  send: (message) => void link.write(toFrame(message)),
  log: (line) => void process.stdout.write(line.endsWith('\n') ? line : `${line}\n`),
  sendOutcome,
  exit: () => void link.end(() => process.exit(0)),
});
link.on('error', () => process.exit(0));
link.on('close', () => process.exit(0));

/** Makes writes to a pipe block, so that output keeps its order and none is lost when the process is killed. */
function writeAtOnce(stream: NodeJS.WriteStream): void {
  const { _handle } = stream as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } };
  _handle?.setBlocking?.(true);
}

/** An outcome that is sent with the mark could overtake the calls of its job, and large ones could be cut. */
function sendOutcome(outcome: OutcomeMessage['outcome'], { hasCalled }: { readonly hasCalled: boolean }): void {
  const message: OutcomeMessage = { kind: 'outcome', outcome, isMarked: true };
  const marked = hasCalled ? null : toJsonFrame(message, mark);
  if (marked !== null && marked.length <= MAX_MARK_BYTES && writeMark(marked)) return;
  link.write(toJsonFrame({ ...message, isMarked: writeMark(markAlone) }));
}

/** Returns whether it was written: the handler may have closed stdout. */
function writeMark(bytes: Buffer): boolean {
  try {
    return writeSync(STDOUT_FD, bytes) === bytes.length;
  } catch {
    return false;
  }
}
