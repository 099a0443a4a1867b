/**
 * The steps of one attempt in the store: those of earlier attempts, and writes under the token.
 *
 * A write is repeated while the store is unavailable, because a result that was computed must not be lost. It is
 * idempotent by kind and name. It ends with the attempt.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Step, StepKind, StepSums } from '../../core/job/step.ts';
import { numberedName } from '../../core/job/step.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Kept, StepCalls, WrittenStep } from './step-calls.ts';

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

export class KeptSteps {
  readonly #calls: StepCalls;
  readonly #hasEarlier: boolean;
  #count: number;
  readonly #signal: () => AbortSignal;
  readonly #names = new Map<string, number>();
  #known: Promise<ReadonlyMap<string, Step>> | null = null;

  constructor(calls: StepCalls, before: StepSums | null, signal: () => AbortSignal) {
    this.#calls = calls;
    this.#hasEarlier = before !== null;
    this.#count = before?.count ?? 0;
    this.#signal = signal;
  }

  /** How many steps the job has, as far as this attempt knows. */
  get count(): number {
    return this.#count;
  }

  /** Returns the name of the next step with this name in the attempt. */
  nextName(kind: StepKind, name: string): string {
    const n = (this.#names.get(`${kind}:${name}`) ?? 0) + 1;
    this.#names.set(`${kind}:${name}`, n);
    return numberedName(name, n);
  }

  /** Returns a step that an earlier attempt kept, or the part of this attempt before it was suspended. */
  async earlier(kind: StepKind, name: string): Promise<Step | undefined> {
    // The first attempt of a job has no step before its own.
    if (!this.#hasEarlier) return undefined;
    this.#known ??= this.#read();
    return (await this.#known).get(`${kind}:${name}`);
  }

  /** Writes a step. Returns it as it is kept. */
  async keep(write: WrittenStep): Promise<Kept> {
    const kept = await this.call(() => this.#calls.keep(write));
    this.#count = Math.max(this.#count, kept.step.number);
    return kept;
  }

  /** Makes a call that may be repeated, until the store answers or the attempt is over. */
  async call<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    for (let ms = FIRST_RETRY_MS; ; ms = Math.min(2 * ms, MAX_RETRY_MS)) {
      try {
        return await make();
      } catch (error) {
        if (!isTransient(error) || this.#signal().aborted) throw error;
        await delay(ms, undefined, { signal: this.#signal() }).catch(() => undefined);
      }
    }
  }

  async #read(): Promise<ReadonlyMap<string, Step>> {
    const steps = await this.call(() => this.#calls.read());
    return new Map(steps.map((step) => [`${step.kind}:${step.name}`, step]));
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof LonghaulError && (error.code === 'store-unavailable' || error.code === 'outcome-unknown');
}
