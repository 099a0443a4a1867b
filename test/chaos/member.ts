/**
 * One process of a chaos run under supervision: a worker, a producer or the node. It is started again when a fault killed
 * it, and when it ended by itself, which the ledger records.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ended } from '../support/guarded-process.ts';

/** A running process; `Fixture` of test/support is one. */
export interface RunningProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  send(message: unknown): void;
  kill9(): Promise<Ended>;
  terminate(): Promise<Ended>;
  stop(): void;
  cont(): void;
}

export interface MemberOptions {
  readonly name: string;
  /** Starts the process; resolves when it does its work. */
  readonly start: () => Promise<RunningProcess>;
  readonly onExit: (pid: number, ended: Ended) => void;
  /** Ends it in good order. */
  readonly close: (running: RunningProcess) => Promise<unknown>;
}

const RESTART_AFTER_MS = 300;
const CLOSE_MS = 20_000;

export class Member {
  readonly name: string;
  readonly #options: MemberOptions;
  #running: RunningProcess | null = null;
  #isClosing = false;
  /** Processes whose end is expected. */
  readonly #expected = new Set<number>();
  #starting: Promise<void> | null = null;
  /** Held by the fault that uses it: two faults must not hit one process at the same time. */
  isTaken = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** The process; null while it is started. */
  get running(): RunningProcess | null {
    return this.#running;
  }

  start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return this.#starting;
  }

  async #start(): Promise<void> {
    while (!this.#isClosing && this.#running === null) {
      const running = await this.#options.start().catch((error: unknown) => this.#failed(error));
      if (running === null) await sleep(RESTART_AFTER_MS);
      else this.#watch(running);
    }
  }

  #failed(error: unknown): null {
    this.#options.onExit(0, { code: null, signal: `did not start: ${String(error).slice(0, 500)}` });
    return null;
  }

  #watch(running: RunningProcess): void {
    this.#running = running;
    void running.ended.then(async (ended) => {
      this.#running = null;
      if (this.#isClosing || this.#expected.has(running.pid)) return;
      this.#options.onExit(running.pid, ended);
      await sleep(RESTART_AFTER_MS);
      await this.start();
    });
  }

  /** Ends it with SIGKILL. Returns its pid; `start` starts it again. */
  async kill9(): Promise<number> {
    const running = this.#running;
    if (running === null) return 0;
    this.#expected.add(running.pid);
    await running.kill9();
    this.#running = null;
    return running.pid;
  }

  /** Ends it in good order, or with SIGKILL when that takes too long. Returns whether it ended by itself. */
  async close(): Promise<boolean> {
    this.#isClosing = true;
    await this.#starting;
    const running = this.#running;
    if (running === null) return true;
    const isClosed = await Promise.race([
      this.#options.close(running).then(() => true),
      sleep(CLOSE_MS, false, { ref: false }),
    ]);
    if (!isClosed) await running.kill9();
    return isClosed;
  }

  async kill(): Promise<void> {
    this.#isClosing = true;
    await this.#running?.kill9();
  }
}
