/** Looks one after the other: who asks for one while one is being made gets another one after it, and only one. */
export class PollLoop {
  readonly #look: () => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  #isLooking = false;
  #isAsked = false;

  constructor(look: () => Promise<void>, onTrouble: (error: unknown) => void) {
    this.#look = look;
    this.#onTrouble = onTrouble;
  }

  ask(): void {
    this.#isAsked = true;
    if (!this.#isLooking) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#look().catch(this.#onTrouble);
    }
    this.#isLooking = false;
  }
}
