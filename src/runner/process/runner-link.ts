/**
 * The parent's side of the runner process: hands it orders, hears when their shims have ended, and starts it again when
 * it dies.
 *
 *   starting ──ready──▶ up ──died──▶ waiting (damped) ──▶ starting
 *
 * Invariant: a start is answered exactly once. When the runner process died with an order in hand, it is unknown
 * whether the shim was started: the answer is `lost`, and the attempt's folder decides (adopt.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ShimOrder } from '../attempt/start-order.ts';
import { createLineReader, toLine } from './json-lines.ts';
import { createRestartDamper } from './restart-damper.ts';
import type { FromRunner, ToRunner } from './runner-process.ts';

export type SpawnAnswer =
  /** `gone` is resolved when the shim has ended. It stays open when the runner process dies before that. */
  | { readonly kind: 'spawned'; readonly gone: Promise<void> }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string };

export interface RunnerHealth {
  readonly isUp: boolean;
  readonly pid: number | null;
  /** Deaths in a row; the wait before the next start grows with them. */
  readonly deaths: number;
  readonly lastProblem: string | null;
  /** When it will be started again, epoch ms; null while it runs. */
  readonly nextStartAt: number | null;
}

/** An order that has no answer yet. */
interface Start {
  readonly message: ToRunner;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: SpawnAnswer) => void;
}

/** A runner process that is stopped or stuck must not hold a start for ever. */
const START_WAIT_MS = 15_000;
const STDERR_KEPT = 2_000;
const NO_ANSWER = {
  kind: 'lost',
  message: `the runner process did not answer in ${START_WAIT_MS / 1000} s`,
} as const;

export class RunnerLink {
  readonly #starts = new Map<number, Start>();
  /** What to call when a shim has ended. */
  readonly #shims = new Map<number, () => void>();
  readonly #damper = createRestartDamper();
  readonly #onHealth: (health: RunnerHealth) => void;
  #child: ChildProcess | null = null;
  #isUp = false;
  #isStopped = false;
  #nextId = 1;
  #complaints = '';
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
    this.#complaints = '';
    const entry = fileURLToPath(new URL('./runner-process.js', import.meta.url));
    // A session of its own, since Ctrl-C in a terminal is not meant for it; an empty environment, since it needs none.
    const child = spawn(process.execPath, [entry], { stdio: ['pipe', 'pipe', 'pipe'], env: {}, detached: true });
    this.#child = child;
    child.stdout.on(
      'data',
      createLineReader((message) => this.#receive(message as FromRunner)),
    );
    child.stderr.on('data', (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString()).slice(-STDERR_KEPT);
    });
    // The last write may meet a pipe whose reader has just died; its death is news enough.
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => this.#died(error.message));
    child.once('close', (code, signal) => this.#died(`ended with ${signal ?? `exit code ${code}`}`));
  }

  start(order: ShimOrder): Promise<SpawnAnswer> {
    if (this.#isStopped) return Promise.resolve({ kind: 'lost', message: 'the runner is stopped' });
    const id = this.#nextId++;
    const message = { id, ...order };
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(id, NO_ANSWER), START_WAIT_MS);
      this.#starts.set(id, { message, timer, resolve });
      if (this.#isUp) this.#send(message);
    });
  }

  /** Ends the runner process. The shims go on. */
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
        return this.#answer(message.id, { kind: 'spawned', gone: this.#goneOf(message.id) });
      case 'gone':
        this.#answer(message.id, { kind: 'spawned', gone: Promise.resolve() });
        this.#shims.get(message.id)?.();
        this.#shims.delete(message.id);
    }
  }

  #goneOf(id: number): Promise<void> {
    return new Promise((resolve) => void this.#shims.set(id, resolve));
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
    this.#lastProblem = `the runner process ${how}${this.#complaints && `: ${this.#complaints.trim()}`}`;
    const wasUp = this.#isUp;
    this.#child = null;
    this.#isUp = false;
    if (!this.#isStopped) this.#openLater();
    // Orders that were never sent wait for the next one.
    if (wasUp || this.#isStopped) this.#loseAll();
    if (!this.#isStopped) this.#onHealth(this.health());
  }

  #openLater(): void {
    const waitMs = this.#damper.died(performance.now());
    this.#nextStartAt = Date.now() + waitMs;
    this.#timer = setTimeout(() => this.open(), waitMs);
  }

  /** Running shims go on. Their attempts are watched through their files alone. */
  #loseAll(): void {
    const message = this.#isStopped ? 'the runner was stopped' : (this.#lastProblem ?? '');
    for (const id of this.#starts.keys()) this.#answer(id, { kind: 'lost', message });
    this.#shims.clear();
  }
}
