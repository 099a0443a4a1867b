/** Whether this node takes new work. Whoever claims for it is told of each change, and at once of how it is now. */

export type DrainListener = (isDraining: boolean) => void;

export class DrainSwitch {
  readonly #listeners = new Set<DrainListener>();
  #isDraining = false;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  set(isDraining: boolean): void {
    if (isDraining === this.#isDraining) return;
    this.#isDraining = isDraining;
    for (const listener of this.#listeners) listener(isDraining);
  }

  listen(listener: DrainListener): () => void {
    this.#listeners.add(listener);
    listener(this.#isDraining);
    return () => this.#listeners.delete(listener);
  }
}
