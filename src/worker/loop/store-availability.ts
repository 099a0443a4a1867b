/** Whether the store can be reached, as seen from all calls of a worker together: told once when it goes, once when it is back. */

export interface ReachOptions {
  onAway(error: unknown): void;
  onBack(): void;
}

const AWAY_CODES: ReadonlySet<unknown> = new Set([
  'store-unavailable',
  'outcome-unknown',
  'store-full',
  'store-incompatible',
  'store-closed',
]);

/** Whether the store is known to be the reason, and not the call: the same call may succeed later. */
export function isAway(error: unknown): boolean {
  return AWAY_CODES.has(codeOf(error));
}

/** Rejected passwords, rights and damage as well: an operator can put them right while the worker waits. */
const HEALING_CODES: ReadonlySet<unknown> = new Set([
  'store-unavailable',
  'outcome-unknown',
  'store-full',
  'data-corrupt',
  'refused',
]);

/** Whether a store that answers so may be of use later, without another program, other settings or another connection. */
export function canHeal(error: unknown): boolean {
  return HEALING_CODES.has(codeOf(error));
}

/** Whether the call itself is wrong: too large, or not what the store takes. Repeating it changes nothing. */
export function isInputError(error: unknown): boolean {
  return codeOf(error) === 'bad-input';
}

/** By its code and not by its class: an error may come from another thread or another copy of this package. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
}

export class Reach {
  readonly #options: ReachOptions;
  #isAway = false;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  answered(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#options.onBack();
  }

  failed(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.onAway(error);
  }
}
