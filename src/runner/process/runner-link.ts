/**
 * The parent's side of the runner process: sends start requests, receives the exits of shims, and restarts the process
 * when it dies.
 *
 *   starting ──ready──▶ up ──died──▶ waiting (backoff) ──▶ starting
 *
 * Invariant: a start is answered exactly once. When the runner process dies with a pending request, it is unknown
 * whether the shim was started: the answer is `lost`, and the attempt directory decides (adopt.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ShimInput } from '../attempt/start-request.ts';
import { createLineReader, toLine } from './json-lines.ts';
import { createRestartDamper } from './restart-damper.ts';
import type { FromRunner, ToRunner } from './runner-process.ts';

export type SpawnAnswer =
  /** `exited` resolves when the shim has exited. It stays pending when the runner process dies first. */
  | { readonly kind: 'spawned'; readonly exited: Promise<void> }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string };

export interface RunnerHealth {
  readonly isUp: boolean;
  readonly pid: number | null;
  /** Consecutive deaths; the wait before the next start grows with them. */
  readonly deaths: number;
  readonly lastProblem: string | null;
  /** When the next start is due, epoch ms; null while the process runs. */
  readonly nextStartAt: number | null;
}

/** A start request without an answer yet. */
interface PendingStart {
  readonly message: ToRunner;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: SpawnAnswer) => void;
}

/** Limits the wait for a runner process that is stopped or stuck. */
const START_WAIT_MS = 15_000;
const MAX_STDERR = 2_000;
const NO_ANSWER = {
  kind: 'lost',
  message: `the runner process did not answer within ${START_WAIT_MS / 1000} s`,
} as const;

export class RunnerLink {
  readonly #starts = new Map<number, PendingStart>();
  /** Resolvers of the promises that a shim has exited. */
  readonly #shimExits = new Map<number, () => void>();
  readonly #damper = createRestartDamper();
  readonly #onHealth: (health: RunnerHealth) => void;
  #child: ChildProcess | null = null;
  #isUp = false;
  #isStopped = false;
  #nextId = 1;
  #stderr = '';
  #lastProblem: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #nextStartAt: number | null = null;

  constructor(onHealth: (health: RunnerHealth) => void) {
    this.#onHealth = onHealth;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  health(): RunnerHealth {
    return {
      isUp: this.#isUp,
      pid: this.pid,
      deaths: this.#damper.deaths,
      lastProblem: this.#lastProblem,
      nextStartAt: this.#nextStartAt,
    };
  }

  open(): void {
    this.#timer = null;
    this.#nextStartAt = null;
    this.#stderr = '';
    const entry = fileURLToPath(new URL('./runner-process.js', import.meta.url));
    // A session of its own, because Ctrl-C in a terminal is not meant for it. An empty environment, because it needs
    // none.
    const child = spawn(process.execPath, [entry], { stdio: ['pipe', 'pipe', 'pipe'], env: {}, detached: true });
    this.#child = child;
    child.stdout.on(
      'data',
      createLineReader((message) => this.#receive(message as FromRunner)),
    );
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR);
    });
    // The last write may hit a pipe whose reader has just died; `close` reports the death.
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => this.#died(error.message));
    child.once('close', (code, signal) => this.#died(`ended with ${signal ?? `exit code ${code}`}`));
  }

  start(input: ShimInput): Promise<SpawnAnswer> {
    if (this.#isStopped) return Promise.resolve({ kind: 'lost', message: 'the runner is stopped' });
    const id = this.#nextId++;
    const message = { id, ...input };
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(id, NO_ANSWER), START_WAIT_MS);
      this.#starts.set(id, { message, timer, resolve });
      if (this.#isUp) this.#send(message);
    });
  }

  /** Ends the runner process. The shims continue. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#nextStartAt = null;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end();
    await once(child, 'close');
  }

  #send(message: ToRunner): void {
    this.#child?.stdin?.write(toLine(message));
  }

  #receive(message: FromRunner): void {
    switch (message.type) {
      case 'ready':
        return this.#becameUp();
      case 'refused':
        return this.#answer(message.id, { kind: 'refused', message: message.message });
      case 'spawned':
        return this.#answer(message.id, { kind: 'spawned', exited: this.#exitOf(message.id) });
      case 'exited':
        this.#answer(message.id, { kind: 'spawned', exited: Promise.resolve() });
        this.#shimExits.get(message.id)?.();
        this.#shimExits.delete(message.id);
    }
  }

  #exitOf(id: number): Promise<void> {
    return new Promise((resolve) => void this.#shimExits.set(id, resolve));
  }

  #answer(id: number, answer: SpawnAnswer): void {
    const start = this.#starts.get(id);
    if (start === undefined) return;
    this.#starts.delete(id);
    clearTimeout(start.timer);
    start.resolve(answer);
  }

  #becameUp(): void {
    this.#isUp = true;
    for (const { message } of this.#starts.values()) this.#send(message);
    this.#onHealth(this.health());
  }

  #died(how: string): void {
    if (this.#child === null) return;
    this.#lastProblem = `the runner process ${how}${this.#stderr && `: ${this.#stderr.trim()}`}`;
    const wasUp = this.#isUp;
    this.#child = null;
    this.#isUp = false;
    if (!this.#isStopped) this.#scheduleOpen();
    // Requests that were never sent wait for the next process.
    if (wasUp || this.#isStopped) this.#failPending();
    if (!this.#isStopped) this.#onHealth(this.health());
  }

  #scheduleOpen(): void {
    const waitMs = this.#damper.died(performance.now());
    this.#nextStartAt = Date.now() + waitMs;
    this.#timer = setTimeout(() => this.open(), waitMs);
  }

  /**
   * Answers every pending start with `lost`. Running shims continue, and their attempts are watched through their files
   * alone.
   */
  #failPending(): void {
    const message = this.#isStopped ? 'the runner was stopped' : (this.#lastProblem ?? '');
    for (const id of this.#starts.keys()) this.#answer(id, { kind: 'lost', message });
    this.#shimExits.clear();
  }
}
