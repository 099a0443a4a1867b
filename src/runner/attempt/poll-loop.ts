/** Runs polls one after the other. Requests during a poll cause exactly one more poll after it. */
export class PollLoop {
  readonly #poll: () => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  #isPolling = false;
  #isRequested = false;

  constructor(poll: () => Promise<void>, onTrouble: (error: unknown) => void) {
    this.#poll = poll;
    this.#onTrouble = onTrouble;
  }

  request(): void {
    this.#isRequested = true;
    if (!this.#isPolling) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isPolling = true;
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#poll().catch(this.#onTrouble);
    }
    this.#isPolling = false;
  }
}
