/**
 * The shims of a runner process: each runs one attempt after the other, since starting a shell for each costs more than
 * most short scripts do.
 *
 *   started ──▶ busy ──said it is done, and its attempt was let go──▶ idle ──order──▶ busy
 *                 └──died──▶ gone                                        └──unused for a while──▶ ended
 *
 * Invariant: a shim gets another attempt only when nobody looks at it for the sake of the last one. Otherwise an answer
 * or a signal that was meant for that one could reach this one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesOf } from './attempt-files.ts';
import { quoted, type ShimOrder } from './order.ts';
import type { FromRunner } from './runner-messages.ts';

interface Shim {
  readonly child: ChildProcess;
  /** The attempt it was given last. */
  id: number;
  /** That one's folder; null for a shim that had none yet. */
  folder: string | null;
  /** The control group it is in, for as long as it lives. */
  readonly group: string | null;
  isDone: boolean;
  isLetGo: boolean;
  isSpent: boolean;
  timer: NodeJS.Timeout | null;
}

const SPAWNED_WAIT_MS = 10;
const IDLE_MS = 10_000;
const MOST_IDLE = 32;
const folder = dirname(fileURLToPath(new URL('./shim.sh', import.meta.url)));

export class ShimPool {
  readonly #say: (message: FromRunner) => void;
  readonly #inUse = new Map<number, Shim>();
  readonly #idle: Shim[] = [];
  /** Attempts whose start was not told yet. */
  readonly #unsaid = new Set<number>();
  #isTimed = false;

  constructor(say: (message: FromRunner) => void) {
    this.#say = say;
  }

  start(id: number, order: ShimOrder): void {
    if (!existsSync(order.cwd)) return this.#refuse(id, `${order.cwd} does not exist`);
    const shim = this.#takeIdle(order.group) ?? this.#open(id, order.group);
    if (shim === null) return;
    if (shim.timer !== null) clearTimeout(shim.timer);
    if (shim.folder !== null) moveIfNothingWasSaid(shim.folder, order.folder);
    Object.assign(shim, { id, folder: order.folder, isDone: false, isLetGo: false, timer: null });
    this.#inUse.set(id, shim);
    shim.child.stdin?.write(`lh_env() { ${order.env}; }; lh_attempt ${id} ${order.words}\n`);
    this.#sayLater(id);
  }

  letGo({ id, isSpent }: { readonly id: number; readonly isSpent: boolean }): void {
    const shim = this.#inUse.get(id);
    if (shim === undefined) return;
    Object.assign(shim, { isLetGo: true, isSpent });
    this.#rest(shim);
  }

  /** One of another group would have to leave it, and its cat too. */
  #takeIdle(group: string | null): Shim | undefined {
    const at = this.#idle.findLastIndex((shim) => shim.group === group);
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0];
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

  #refuse(id: number, message: string): void {
    this.#say({ type: 'refused', id, message });
  }

  #open(id: number, group: string | null): Shim | null {
    let child: ChildProcess;
    try {
      child = spawn('/bin/sh', ['-s', 'longhaul-shim'], {
        cwd: '/',
        env: {},
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    } catch (error) {
      this.#refuse(id, String(error));
      return null;
    }
    child.once('error', (error) => this.#refuse(id, error.message));
    if (child.pid === undefined) return null;
    const shim: Shim = { child, id, folder: null, group, isDone: false, isLetGo: false, isSpent: false, timer: null };
    // A shim that has died is told of by its exit.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', () => this.#done(shim));
    child.once('exit', () => this.#died(shim));
    child.stdin?.write(`lh_home=${quoted(folder)}; . "$lh_home/shim.sh"\n`);
    return shim;
  }

  /** It says a line for each attempt, and has one at a time: whatever comes is that line. */
  #done(shim: Shim): void {
    if (shim.isDone) return;
    shim.isDone = true;
    this.#gone(shim.id);
    this.#rest(shim);
  }

  #rest(shim: Shim): void {
    if (!shim.isDone || !shim.isLetGo) return;
    this.#inUse.delete(shim.id);
    if (shim.isSpent || this.#idle.length >= MOST_IDLE) return void shim.child.stdin?.end();
    this.#idle.push(shim);
    shim.timer = setTimeout(() => this.#end(shim), IDLE_MS).unref();
  }

  #end(shim: Shim): void {
    this.#forget(shim);
    shim.child.stdin?.end();
  }

  #died(shim: Shim): void {
    this.#forget(shim);
    if (!shim.isDone) this.#gone(shim.id);
    shim.isDone = true;
  }

  #forget(shim: Shim): void {
    if (shim.timer !== null) clearTimeout(shim.timer);
    this.#inUse.delete(shim.id);
    const at = this.#idle.indexOf(shim);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

/**
 * The file goes along with the cat that writes it: an attempt that says nothing needs neither a new cat nor a new file.
 * The shim looks whether it is there, so when it cannot be moved nothing is lost but time.
 */
function moveIfNothingWasSaid(from: string, to: string): void {
  const { said } = filesOf(from);
  try {
    if (statSync(said).size === 0) renameSync(said, filesOf(to).said);
  } catch {
    // Removed with its job.
  }
}
