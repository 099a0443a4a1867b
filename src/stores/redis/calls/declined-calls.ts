/**
 * Remembers which calls the fast scripts decline, so that such calls are sent to the general script at once.
 *
 * A single decline is forgotten: a first claim or an expired lease is one. After further declines in succession, one, two,
 * four and so on calls of the same subject skip the fast script, then it is tried again.
 */

const MAX_SKIPPED = 64;
/** Subjects are script names with lists of queues: there are few. */
const MAX_SUBJECTS = 1_000;

interface Declines {
  readonly count: number;
  /** How many calls still skip the fast script. */
  left: number;
}

export class DeclinedCalls {
  readonly #subjects = new Map<string, Declines>();

  /** Returns whether the next call tries the fast script. */
  isTrying(subject: string): boolean {
    const known = this.#subjects.get(subject);
    if (known === undefined || known.left === 0) return true;
    known.left -= 1;
    return false;
  }

  decline(subject: string): void {
    const count = (this.#subjects.get(subject)?.count ?? 0) + 1;
    if (this.#subjects.size >= MAX_SUBJECTS) this.#subjects.clear();
    this.#subjects.set(subject, { count, left: count < 2 ? 0 : Math.min(2 ** (count - 2), MAX_SKIPPED) });
  }

  accept(subject: string): void {
    if (this.#subjects.size > 0) this.#subjects.delete(subject);
  }
}
