/**
 * The shims that wait for another attempt: each runs one after the other, since starting a shell for each costs more than
 * most short scripts do.
 *
 *   rising ──said it hears us──▶ idle ──order──▶ busy ──said it is done, and its attempt was let go──▶ idle
 *      └──gone──▶ its order is lost  └──unused for a while──▶ ended   └──died──▶ gone
 *
 * Invariant: a shim gets another attempt only when nobody looks at it for the sake of the last one. Otherwise an answer
 * or a signal that was meant for that one could reach this one.
 */
import { renameSync, statSync } from 'node:fs';
import { filesOf, type ProcessKey } from './attempt-files.ts';
import { type ShimOrder, textOf } from './order.ts';
import { openShimLine, type ShimLine } from './shim-line.ts';

/** Nobody will look at its shim any more. Null for one that gets no other attempt. */
export type LetGo = (shim: ProcessKey | null) => void;

export type SpawnAnswer =
  | { readonly kind: 'spawned'; readonly letGo: LetGo }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string };

/** The shim is gone; or nobody will tell any more when it is. */
export type ShimNews = 'gone' | 'unwatched';

interface Shim {
  readonly line: ShimLine;
  /** The control group it is in, for as long as it lives. */
  readonly group: string | null;
  /** The folder of the attempt it had last. */
  folder: string;
  isRising: boolean;
  /** Called when it is known to hear orders, or to be given up before it did. */
  onRisen: ((isThere: boolean) => void) | null;
  onNews: ((news: ShimNews) => void) | null;
  isLetGo: boolean;
  timer: NodeJS.Timeout | null;
}

/** A runner process or a shim that is stopped or stuck must not hold a start for ever. */
export const START_WAIT_MS = 15_000;
const IDLE_MS = 10_000;
const MOST_IDLE = 32;

export class ShimPool {
  readonly #idle: Shim[] = [];
  readonly #all = new Set<Shim>();

  /** Takes a shim that has done its first attempt. False for one that cannot be had: it is to end. */
  take(key: ProcessKey, { folder, group }: Pick<ShimOrder, 'folder' | 'group'>): boolean {
    if (this.#idle.length >= MOST_IDLE) return false;
    const line = openShimLine(key, { onWord: () => this.#heard(shim), onGone: () => this.#gone(shim) });
    if (line === null) return false;
    const state = { isRising: true, onRisen: null, onNews: null, isLetGo: true, timer: null };
    const shim: Shim = { line, group, folder, ...state };
    this.#all.add(shim);
    this.#rest(shim);
    return true;
  }

  /** Null when there is none for it. */
  give(id: number, order: ShimOrder, onNews: (news: ShimNews) => void): Promise<SpawnAnswer> | null {
    const shim = this.#takeIdle(order.group);
    if (shim === null) return null;
    moveIfNothingWasSaid(shim.folder, order.folder);
    Object.assign(shim, { folder: order.folder, onNews, isLetGo: false });
    shim.line.order(textOf(id, order));
    const spawned: SpawnAnswer = { kind: 'spawned', letGo: (key) => this.#letGo(shim, key === null) };
    return shim.isRising ? this.#whenRisen(shim, spawned) : Promise.resolve(spawned);
  }

  /** Those that wait end now, the others after the attempt in hand. */
  close(): void {
    for (const shim of this.#all) this.#end(shim);
  }

  #whenRisen(shim: Shim, spawned: SpawnAnswer): Promise<SpawnAnswer> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(shim), START_WAIT_MS);
      shim.onRisen = (isThere) => {
        clearTimeout(timer);
        resolve(isThere ? spawned : { kind: 'lost', message: 'its shim did not take it' });
      };
    });
  }

  /** One of another group would have to leave it, and its cat too. */
  #takeIdle(group: string | null): Shim | null {
    const at = this.#idle.findLastIndex((shim) => shim.group === group);
    const shim = at < 0 ? undefined : this.#idle.splice(at, 1)[0];
    if (shim === undefined) return null;
    if (shim.timer !== null) clearTimeout(shim.timer);
    return shim;
  }

  /** It says a line when it rises and one for each attempt, and has one at a time: whatever comes is that line. */
  #heard(shim: Shim): void {
    if (shim.isRising) {
      shim.isRising = false;
      shim.onRisen?.(true);
      return;
    }
    if (shim.onNews === null) return;
    this.#tell(shim, 'gone');
    if (shim.isLetGo) this.#rest(shim);
  }

  #letGo(shim: Shim, isSpent: boolean): void {
    if (isSpent) return this.#end(shim);
    shim.isLetGo = true;
    if (shim.onNews === null) this.#rest(shim);
  }

  #rest(shim: Shim): void {
    if (!this.#all.has(shim)) return;
    if (this.#idle.length >= MOST_IDLE) return this.#end(shim);
    this.#idle.push(shim);
    shim.timer = setTimeout(() => this.#end(shim), IDLE_MS).unref();
  }

  #end(shim: Shim): void {
    this.#forget(shim);
    shim.line.hangUp();
    if (shim.isRising) shim.onRisen?.(false);
  }

  #gone(shim: Shim): void {
    this.#forget(shim);
    if (shim.isRising) shim.onRisen?.(false);
    else this.#tell(shim, 'gone');
  }

  #tell(shim: Shim, news: ShimNews): void {
    const { onNews } = shim;
    shim.onNews = null;
    onNews?.(news);
  }

  #forget(shim: Shim): void {
    if (shim.timer !== null) clearTimeout(shim.timer);
    this.#all.delete(shim);
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
    if (statSync(said, { throwIfNoEntry: false })?.size === 0) renameSync(said, filesOf(to).said);
  } catch {
    // Removed with its job.
  }
}
