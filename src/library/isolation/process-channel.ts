/**
 * An isolated process, as the worker sees it: a session of its own, with a watcher beside it (isolate.sh).
 *
 *     exit of the process ──▶ the rest of its tree is ended and searched for ──▶ the watcher ends ──▶ end of the output
 *
 * Invariant: `onEnd` is called after the search found no process of the tree, or with the number of those that the kernel
 * does not let die.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Duplex, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Exit } from '../../runner/attempt/attempt-files.ts';
import type { TrackedAttempt } from '../../runner/process-tree/membership.ts';
import { bootIdentity, readStat, readUnits } from '../../runner/process-tree/process-stat.ts';
import { sendToGroup } from '../../runner/process-tree/send-signal.ts';
import { terminate } from '../../runner/process-tree/terminate.ts';
import { atMost } from '../../worker/outcome/deadline.ts';
import { createFrameReader, toFrame, toJsonFrame } from './frames.ts';
import { inheritedOptions } from './inherited-options.ts';
import type { ChannelEvents, IsolateChannel, IsolateMessage } from './isolate-channel.ts';
import { createOutputReader, markOf } from './output-marks.ts';

/** How long the watcher and the end of the output may take once no process of the tree is left. */
const CLOSE_MS = 2_000;
/** No process has this pid: an isolated process has no shim. */
const NO_PID = -2;
const EXITED: Exit = { status: 0, signal: null, areReportsComplete: true, cpuSeconds: 0 };

const starter = fileURLToPath(new URL('./isolate.sh', import.meta.url));
const entry = fileURLToPath(new URL('./handler-process.js', import.meta.url));

export function openProcessChannel(address: string, events: ChannelEvents): IsolateChannel {
  return new ProcessChannel(address, events);
}

class ProcessChannel implements IsolateChannel {
  readonly #events: ChannelEvents;
  readonly #child: ChildProcess;
  readonly #messages: Duplex;
  /** Held open as long as the process is needed. */
  readonly #life: Duplex;
  readonly #closed: Promise<void>;
  readonly #tree: TrackedAttempt;
  readonly #excluded = new Set([process.pid]);
  readonly #state = { hasExited: false, isEnding: false };
  #outcome: IsolateMessage | null = null;
  #marks = 0;
  #terminating: Promise<number> | null = null;

  constructor(address: string, events: ChannelEvents) {
    this.#events = events;
    const mark = `longhaul-isolated-${randomUUID()}`;
    const nonce = randomUUID();
    const command = [process.execPath, ...inheritedOptions(process.execArgv), entry, address, nonce];
    const child = spawn('/bin/sh', [starter, mark, ...command], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#messages = child.stdio[3] as Duplex;
    this.#life = child.stdio[4] as Duplex;
    this.#tree = this.#track(mark);
    this.#closed = new Promise((resolve) => {
      child.once('close', () => resolve());
    });
    this.#listen(nonce);
  }

  send(message: Parameters<IsolateChannel['send']>[0]): void {
    const isJson = message.kind === 'run' ? 'text' in message.data : message.kind === 'abort' || message.kind === 'end';
    this.#messages.write(isJson ? toJsonFrame(message) : toFrame(message));
  }

  terminate(graceMs: number): void {
    void this.#terminate(graceMs);
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#state.hasExited) sendToGroup(pid, 'SIGKILL');
    void terminate(this.#tree, { graceMs: 0 });
  }

  rssBytes(): number {
    return (readStat(this.#child.pid ?? NO_PID)?.rssPages ?? 0) * readUnits().pageBytes;
  }

  #listen(nonce: string): void {
    const child = this.#child;
    const receiveOutput = createOutputReader(markOf(nonce), {
      onOutput: (bytes) => this.#events.onOutput(bytes),
      onMark: () => {
        this.#marks += 1;
        this.#passOutcome();
      },
    });
    (child.stdout as Readable).on('data', receiveOutput);
    this.#messages.on(
      'data',
      createFrameReader((message) => this.#receive(message as IsolateMessage)),
    );
    // The first write of the watcher is its pid. It is no part of the tree: it must outlive it.
    this.#life.on('data', (chunk: Buffer) => this.#excluded.add(Number.parseInt(chunk.toString(), 10)));
    // Writes to a process that has just ended fail; its exit says so.
    for (const stream of [this.#messages, this.#life]) stream.on('error', () => undefined);
    child.once('error', (error) => void this.#end(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      this.#state.hasExited = true;
      void this.#end(signal === null ? `exited with code ${code}` : `was killed by ${signal}`);
    });
  }

  #receive(message: IsolateMessage): void {
    if (message.kind !== 'outcome') return this.#events.onMessage(message);
    this.#outcome = message;
    if (!message.isMarked) this.#marks += 1;
    this.#passOutcome();
  }

  /** Passes an outcome on when the output of its job was read up to the mark. */
  #passOutcome(): void {
    const outcome = this.#outcome;
    if (outcome === null || this.#marks === 0) return;
    this.#outcome = null;
    this.#marks = 0;
    this.#events.onMessage(outcome);
  }

  async #end(how: string): Promise<void> {
    if (this.#state.isEnding) return;
    this.#state.isEnding = true;
    const left = await this.#terminate(0);
    this.#life.end();
    await atMost(this.#closed, CLOSE_MS);
    // The mark is lost with output that another process holds open.
    if (this.#outcome !== null) this.#events.onMessage(this.#outcome);
    for (const stream of [this.#child.stdout, this.#messages, this.#life]) stream?.destroy();
    this.#events.onEnd({ how, left });
  }

  #terminate(graceMs: number): Promise<number> {
    this.#terminating ??= terminate(this.#tree, { graceMs }).then(({ left }) => left);
    return this.#terminating;
  }

  #track(mark: string): TrackedAttempt {
    const state = this.#state;
    const pid = this.#child.pid ?? NO_PID;
    const start = readStat(pid)?.start ?? 0;
    return {
      // No path: such a process is not known by the files that it uses.
      folder: mark,
      realFolder: mark,
      record: { boot: bootIdentity(), shim: { pid: NO_PID, start }, script: { pid, start } },
      known: new Map(),
      excludedPids: this.#excluded,
      cgroup: null,
      get exit() {
        return state.hasExited ? EXITED : null;
      },
      isForeignSession: () => false,
    };
  }
}
