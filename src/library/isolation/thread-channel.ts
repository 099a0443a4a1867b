/**
 * An isolated thread, as the worker sees it. It is terminated after the grace. That ends its JavaScript, but neither a
 * call of native code that does not return nor processes that the handler started.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { ChannelEvents, IsolateChannel } from './isolate-channel.ts';
import type { FromIsolate, ToIsolate } from './messages.ts';

/** How long a terminated thread may take to end: native code that does not return keeps it. */
const TERMINATE_MS = 5_000;

export function openThreadChannel(address: string, events: ChannelEvents): IsolateChannel {
  const thread = new Thread(new URL('./handler-thread.js', import.meta.url), {
    name: 'longhaul-handler',
    workerData: { address },
    // Output that bypasses the entry, at its start, belongs to the log as well.
    stdout: true,
    stderr: true,
  });
  let hasEnded = false;
  let problem: string | null = null;
  let grace: NodeJS.Timeout | null = null;
  const end = (how: string, left: number): void => {
    if (hasEnded) return;
    hasEnded = true;
    if (grace !== null) clearTimeout(grace);
    events.onEnd({ how, left });
  };
  const kill = (): void => {
    void thread.terminate();
    grace ??= setTimeout(() => end('did not end: native code keeps it', 1), TERMINATE_MS);
  };
  thread.on('message', (message: FromIsolate) => {
    if (message.kind === 'output') events.onOutput(Buffer.from(message.text));
    else events.onMessage(message);
  });
  for (const stream of [thread.stdout, thread.stderr]) stream.on('data', (chunk: Buffer) => events.onOutput(chunk));
  thread.on('error', (error) => {
    problem = `failed outside of a job: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  });
  thread.once('exit', (code) => end(problem ?? `exited with code ${code}`, 0));
  return {
    send: (message: ToIsolate) => thread.postMessage(message),
    rssBytes: () => 0,
    terminate(graceMs) {
      if (grace !== null || hasEnded) return;
      grace = setTimeout(() => {
        grace = null;
        kill();
      }, graceMs);
    },
    kill() {
      if (grace !== null) clearTimeout(grace);
      grace = null;
      kill();
    },
  };
}
