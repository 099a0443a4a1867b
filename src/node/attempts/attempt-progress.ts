/**
 * Whether an attempt is over, as the store knows it, and when it is time to look again: something changed, was heard
 * of it, or some time has passed.
 */
import type { JobState } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';

export interface AttemptName {
  readonly store: Store;
  readonly id: string;
  readonly attempt: number;
}

/** The store is asked this often although it told of nothing: an event may be lost. */
const ASK_EVERY_MS = 5_000;

export class AttemptClock {
  readonly #name: AttemptName;
  readonly #undo: (() => void)[] = [];
  #ring: () => void = () => undefined;
  #isRung = false;
  #isNews = true;
  #askedAt = 0;
  #ended: { readonly state: JobState | null } | null = null;

  constructor(name: AttemptName, everyMs: number) {
    this.#name = name;
    const timer = setInterval(() => this.ring(), everyMs).unref();
    const unsubscribe = name.store.jobs.subscribe((events) => {
      if (!events.some(({ id, type }) => id === name.id && type !== 'progress')) return;
      this.#isNews = true;
      this.ring();
    });
    this.#undo.push(unsubscribe, () => clearInterval(timer));
  }

  /** Null while it runs. Asks the store only when there is a reason to. */
  async ended(): Promise<{ readonly state: JobState | null } | null> {
    if (this.#ended !== null) return this.#ended;
    if (!this.#isNews && performance.now() - this.#askedAt < ASK_EVERY_MS) return null;
    this.#isNews = false;
    this.#askedAt = performance.now();
    const { store, id, attempt } = this.#name;
    const job = (await store.jobs.find([id]))[0] ?? null;
    const isOver = job === null || job.state !== 'running' || job.attempt !== attempt;
    this.#ended = isOver ? { state: job?.state ?? null } : null;
    return this.#ended;
  }

  ring(): void {
    this.#isRung = true;
    this.#ring();
  }

  /** Resolved when it was rung since the last time, or the signal says stop. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener('abort', go);
        this.#isRung = false;
        this.#ring = () => undefined;
        resolve();
      };
      this.#ring = go;
      signal.addEventListener('abort', go, { once: true });
      if (this.#isRung || signal.aborted) go();
    });
  }

  close(): void {
    for (const undo of this.#undo) undo();
  }
}
