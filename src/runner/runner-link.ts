/**
 * The parent's side of the runner process: hands it the orders for which no shim is waiting (shim-pool.ts), hears when
 * such an attempt is over, and starts it again when it dies.
 *
 *   starting ──ready──▶ up ──died──▶ waiting (damped) ──▶ starting
 *
 * Invariant: a start is answered exactly once. When the runner process died with an order in hand, nobody here knows
 * whether the shim was started: the answer is `lost`, and the attempt's folder decides (adopt.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ProcessKey } from './attempt-files.ts';
import { createLineReader, toLine } from './json-lines.ts';
import type { ShimOrder } from './order.ts';
import { createRestartDamper } from './restart-damper.ts';
import type { FromRunner, ToRunner } from './runner-messages.ts';
import { type ShimNews, ShimPool, type SpawnAnswer, START_WAIT_MS } from './shim-pool.ts';

export interface RunnerHealth {
  readonly isUp: boolean;
  readonly pid: number | null;
  /** Deaths in a row; the wait before the next start grows with them. */
  readonly deaths: number;
  readonly lastProblem: string | null;
  /** When it will be started again, epoch ms; null while it runs. */
  readonly nextStartAt: number | null;
}

interface Pending {
  readonly message: ToRunner & { readonly type: 'start' };
  readonly answer: (answer: SpawnAnswer) => void;
  readonly onNews: (news: ShimNews) => void;
  isSpawned: boolean;
}

const STDERR_KEPT = 2_000;

export class RunnerLink {
  readonly #pending = new Map<number, Pending>();
  readonly #pool = new ShimPool();
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

  start(order: ShimOrder, onNews: Pending['onNews']): Promise<SpawnAnswer> {
    if (this.#isStopped) return Promise.resolve({ kind: 'lost', message: 'the runner is stopped' });
    const { cwd } = order;
    if (!existsSync(cwd)) return Promise.resolve({ kind: 'refused', message: `${cwd} does not exist` });
    const id = this.#nextId++;
    return this.#pool.give(id, order, onNews) ?? this.#startAnew(id, order, onNews);
  }

  /** Ends the runner process. The shims go on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#nextStartAt = null;
    this.#pool.close();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end();
    await once(child, 'close');
  }

  #startAnew(id: number, order: ShimOrder, onNews: Pending['onNews']): Promise<SpawnAnswer> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#giveUp(id), START_WAIT_MS);
      const answer = (given: SpawnAnswer) => {
        clearTimeout(timer);
        resolve(given);
      };
      const pending = { message: { type: 'start', id, order } as const, answer, onNews, isSpawned: false };
      this.#pending.set(id, pending);
      if (this.#isUp) this.#send(pending.message);
    });
  }

  #send(message: ToRunner): void {
    this.#child?.stdin?.write(toLine(message));
  }

  /** From the runner process its shim goes over to the pool, and hears this process alone. */
  #letGo({ id, order }: ToRunner & { readonly type: 'start' }, shim: ProcessKey | null): void {
    const isTaken = shim !== null && !this.#isStopped && this.#pool.take(shim, order);
    this.#send({ type: isTaken ? 'stand' : 'end', id });
  }

  #receive(message: FromRunner): void {
    if (message.type === 'ready') return this.#becameUp();
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    if (message.type !== 'refused') this.#spawned(pending);
    if (message.type === 'spawned') return;
    this.#pending.delete(message.id);
    if (message.type === 'refused') pending.answer({ kind: 'refused', message: message.message });
    else pending.onNews('gone');
  }

  #spawned(pending: Pending): void {
    if (pending.isSpawned) return;
    pending.isSpawned = true;
    pending.answer({ kind: 'spawned', letGo: (shim) => this.#letGo(pending.message, shim) });
  }

  #becameUp(): void {
    this.#isUp = true;
    for (const { message } of this.#pending.values()) this.#send(message);
    this.#onHealth(this.health());
  }

  #giveUp(id: number): void {
    const pending = this.#pending.get(id);
    if (!pending || pending.isSpawned) return;
    this.#pending.delete(id);
    pending.answer({ kind: 'lost', message: `the runner process did not answer in ${START_WAIT_MS / 1000} s` });
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

  #loseAll(): void {
    const message = this.#isStopped ? 'the runner was stopped' : (this.#lastProblem ?? '');
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of all) {
      if (pending.isSpawned) pending.onNews('unwatched');
      else pending.answer({ kind: 'lost', message });
    }
  }
}
