/**
 * Whether the store answers, judged by all calls of a worker. Emits once when it becomes unavailable, and once when it is
 * back. A store that is closed stays so, which is emitted even if the store was unavailable before.
 */

export interface StoreAvailabilityOptions {
  onUnavailable(error: unknown): void;
  onBack(): void;
}

const UNAVAILABLE_CODES: ReadonlySet<unknown> = new Set([
  'store-unavailable',
  'outcome-unknown',
  'store-full',
  'store-incompatible',
  'store-closed',
]);

/** Whether the store is the cause, and not the call: the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE_CODES.has(codeOf(error));
}

/** Also rejected passwords, missing rights and damage: an operator can repair them while the worker waits. */
const HEALING_CODES: ReadonlySet<unknown> = new Set([
  'store-unavailable',
  'outcome-unknown',
  'store-full',
  'data-corrupt',
  'refused',
]);

/** Whether the store may become usable without another program, other settings or another connection. */
export function canHeal(error: unknown): boolean {
  return HEALING_CODES.has(codeOf(error));
}

/** Whether the call itself is wrong: too large, or invalid. Repeating it changes nothing. */
export function isInputError(error: unknown): boolean {
  return codeOf(error) === 'bad-input';
}

/** Returns the code of an error. Its class does not help: it may come from another thread or copy of this package. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
}

export class StoreAvailability {
  readonly #options: StoreAvailabilityOptions;
  #isUnavailable = false;
  #isClosed = false;

  constructor(options: StoreAvailabilityOptions) {
    this.#options = options;
  }

  answered(): void {
    if (!this.#isUnavailable) return;
    this.#isUnavailable = false;
    this.#options.onBack();
  }

  failed(error: unknown): void {
    const isNewlyClosed = codeOf(error) === 'store-closed' && !this.#isClosed;
    if (this.#isUnavailable && !isNewlyClosed) return;
    this.#isUnavailable = true;
    this.#isClosed ||= isNewlyClosed;
    this.#options.onUnavailable(error);
  }
}
