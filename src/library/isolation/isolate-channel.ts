/** What a worker needs of an isolated process or thread. Processes and threads implement it. */
import type { FromIsolate, ToIsolate } from './messages.ts';

/** The messages that reach the worker as such; output has an event of its own. */
export type IsolateMessage = Exclude<FromIsolate, { kind: 'output' }>;

export interface ChannelEvents {
  /** An outcome is received after all output of its job. */
  onMessage(message: IsolateMessage): void;
  onOutput(bytes: Uint8Array): void;
  /** Called once, when nothing of the isolate is left and its last output was received. */
  onEnd(end: IsolateEnd): void;
}

export interface IsolateEnd {
  /** How it ended: `exited with code 3`, `was killed by SIGKILL`. */
  readonly how: string;
  /** Processes that could not be killed. */
  readonly left: number;
}

export interface IsolateChannel {
  send(message: ToIsolate): void;
  /** Waits for the end, at most for the grace; then kills what is left of it. The first call sets the grace. */
  terminate(graceMs: number): void;
  /** Kills it now. */
  kill(): void;
  /** Returns the memory that it uses; 0 for a thread. */
  rssBytes(): number;
}

export type OpenChannel = (address: string, events: ChannelEvents) => IsolateChannel;
