/** Whether this node drains. A listener gets the current state at once, and every change. */

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
