/**
 * The other engines that have the same file open, in this process or another. Each engine adds a row when it opens the
 * file, so that later writers know that another engine wants their events.
 *
 * A pid alone may belong to another process by now: start time and boot id make it unique.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database, Statement } from './sqlite-database.ts';
import { allRows } from './sqlite-database.ts';

type PeerRow = readonly [id: string, pid: number, startedAt: string, boot: string];

export class Peers {
  readonly id = randomUUID();
  readonly #all: Statement;
  readonly #add: Statement;
  readonly #remove: Statement;
  readonly #boot = read('/proc/sys/kernel/random/boot_id').trim();
  #others: readonly PeerRow[] = [];
  #gone: readonly PeerRow[] = [];

  constructor(db: Database) {
    this.#all = db.prepare('SELECT id, pid, started_at, boot FROM peers');
    this.#add = db.prepare('INSERT INTO peers (id, pid, started_at, boot) VALUES (?, ?, ?, ?)');
    this.#remove = db.prepare('DELETE FROM peers WHERE id = ?');
  }

  get hasOthers(): boolean {
    return this.#others.length > 0;
  }

  get pids(): readonly number[] {
    return this.#others.map(([, pid]) => pid);
  }

  /** Runs in a transaction, like `renew`, `unregister` and `sweep`. */
  register(): void {
    this.#addOwn();
    this.reload();
    this.checkAlive();
    this.sweep();
  }

  unregister(): void {
    this.#remove.run(this.id);
  }

  renew(): void {
    this.unregister();
    this.#addOwn();
  }

  /** Called after another engine wrote. */
  reload(): void {
    const gone = new Set(this.#gone.map(([id]) => id));
    this.#others = allRows<PeerRow>(this.#all).filter(([id]) => id !== this.id && !gone.has(id));
  }

  /** Stops counting engines whose process is gone. The next transaction that writes deletes their rows. */
  checkAlive(): void {
    const gone = this.#others.filter((peer) => !this.#isAlive(peer));
    if (gone.length === 0) return;
    this.#gone = [...this.#gone, ...gone];
    this.#others = this.#others.filter((peer) => !gone.includes(peer));
  }

  sweep(): void {
    for (const [id] of this.#gone) this.#remove.run(id);
    this.#gone = [];
  }

  #addOwn(): void {
    const { pid } = process;
    this.#add.run(this.id, pid, startOf(pid), this.#boot);
  }

  #isAlive([, pid, startedAt, boot]: PeerRow): boolean {
    return boot === this.#boot && startOf(pid) === startedAt && isRunning(pid);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the start time of a process as /proc reports it; empty without /proc or if the process is gone. */
function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  // The process name in brackets may contain anything, so the fields are counted after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  return state === 'Z' || state === 'X' ? 'ended' : (fields[19] ?? '');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
