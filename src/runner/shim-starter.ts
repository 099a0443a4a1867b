/**
 * Starts shims, in the runner process: each with its first attempt, of which it says when it is over. All further ones
 * a shim is given by the parent itself (shim-pool.ts), through pipes of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted, type ShimOrder, textOf } from './order.ts';
import type { FromRunner } from './runner-messages.ts';

const SPAWNED_WAIT_MS = 10;
const folder = dirname(fileURLToPath(new URL('./shim.sh', import.meta.url)));

export class ShimStarter {
  readonly #say: (message: FromRunner) => void;
  /** Those that wait for what comes after their first attempt. */
  readonly #shims = new Map<number, ChildProcess>();
  /** Attempts whose start was not told yet. */
  readonly #unsaid = new Set<number>();
  #isTimed = false;

  constructor(say: (message: FromRunner) => void) {
    this.#say = say;
  }

  start(id: number, order: ShimOrder): void {
    const child = this.#open(id);
    if (child === null) return;
    this.#shims.set(id, child);
    let isOver = false;
    const over = () => {
      if (!isOver) this.#gone(id);
      isOver = true;
    };
    // It says a line for its attempt.
    child.stdout?.on('data', over);
    child.once('exit', () => {
      this.#shims.delete(id);
      over();
    });
    child.stdin?.write(`lh_home=${quoted(folder)}; . "$lh_home/shim.sh"\n${textOf(id, order)}`);
    this.#sayLater(id);
  }

  stand(id: number): void {
    this.#take(id)?.stdin?.end('lh_stand\n');
  }

  end(id: number): void {
    this.#take(id)?.stdin?.end();
  }

  #take(id: number): ChildProcess | undefined {
    const child = this.#shims.get(id);
    this.#shims.delete(id);
    return child;
  }

  #open(id: number): ChildProcess | null {
    const refuse = (message: string) => this.#say({ type: 'refused', id, message });
    try {
      const child = spawn('/bin/sh', ['-s', 'longhaul-shim'], {
        cwd: '/',
        env: {},
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      child.once('error', (error) => refuse(error.message));
      // One that has died is told of by its exit.
      child.stdin.on('error', () => undefined);
      return child.pid === undefined ? null : child;
    } catch (error) {
      refuse(String(error));
      return null;
    }
  }

  /** A script may be over sooner than that: then its end says it all, and half as much is said. */
  #sayLater(id: number): void {
    this.#unsaid.add(id);
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => this.#saySpawned(), SPAWNED_WAIT_MS);
  }

  #saySpawned(): void {
    this.#isTimed = false;
    for (const id of this.#unsaid) this.#say({ type: 'spawned', id });
    this.#unsaid.clear();
  }

  #gone(id: number): void {
    this.#unsaid.delete(id);
    this.#say({ type: 'gone', id });
  }
}
