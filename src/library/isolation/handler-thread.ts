/**
 * The entry of an isolated thread. Its output and its messages go through one port, in order.
 *
 * `process.exit()` in a thread ends the thread alone.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { FromIsolate, ToIsolate } from './messages.ts';
import { serveHandler } from './serve-handler.ts';

const { address } = workerData as { readonly address: string };
const send = (message: FromIsolate): void => parentPort?.postMessage(message);
const output = (text: string): void => send({ kind: 'output', text });

for (const stream of [process.stdout, process.stderr]) sendOutputOf(stream);

const served = serveHandler(address, {
  send,
  log: (line) => output(line.endsWith('\n') ? line : `${line}\n`),
  // Output and outcome have one order already.
  markOutput: () => false,
  exit: () => process.exit(0),
});
parentPort?.on('message', (message: ToIsolate) => served.receive(message));

/** The streams of a thread reach the worker only when the event loop of the thread turns; messages leave at once. */
function sendOutputOf(stream: NodeJS.WriteStream): void {
  stream.write = (chunk: Uint8Array | string, ...rest: readonly unknown[]) => {
    output(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const written = rest.find((each) => typeof each === 'function') as (() => void) | undefined;
    if (written !== undefined) queueMicrotask(written);
    return true;
  };
}
