/**
 * What chaos sees of one attempt: the points it passes, its side effects, and the faults that happen to it.
 *
 *     running ──kill──▶ dead: never continues                 running ──freeze, repeat──▶ held ──release──▶ running
 *
 * A dead attempt cannot be ended in-process, so its next durable call and its next effect never return.
 * Invariant: a dead attempt records no effect.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { ActiveJob } from '../../library/index.ts';

/** Options of `effect`. */
export interface EffectOptions {
  /** The outside system ignores a second call with the same key: it counts once. */
  idempotencyKey?: string;
}

/** The parts of a run that its attempts use. */
export interface ProbeHost {
  /** Called at each point. The attempt continues when it resolves. */
  onPoint(probe: Probe, point: string): Promise<void>;
  onEffect(name: string, idempotencyKey: string | null): void;
}

const current = new AsyncLocalStorage<Probe>();
let runsInProgress = 0;

/**
 * Records a side effect of a handler under `chaos`, such as `await effect('charge card')` in a fake of a payment service.
 * Without chaos it does nothing.
 */
export async function effect(name: string, options: EffectOptions = {}): Promise<void> {
  const probe = current.getStore();
  if (probe !== undefined) return probe.effect(name, options.idempotencyKey ?? null);
  if (runsInProgress > 0)
    throw new LonghaulError(
      'bad-input',
      `effect ${JSON.stringify(name)} was called outside of a handler while chaos runs: call it from the handler's own code`,
    );
}

/** Counts a run from its begin to its end: meanwhile an effect outside of a handler is an error. */
export async function whileRunning<T>(run: () => Promise<T>): Promise<T> {
  runsInProgress += 1;
  try {
    return await run();
  } finally {
    runsInProgress -= 1;
  }
}

/** One attempt, as chaos sees it. */
export class Probe {
  readonly #host: ProbeHost;
  readonly #signal: AbortSignal;
  #isDead = false;
  #gate: Promise<void> | null = null;
  /** Resolves a moment after the gate; null while the attempt is not held. */
  #learns: Promise<void> | null = null;
  #open: () => void = () => undefined;

  constructor(host: ProbeHost, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Ends the attempt where it is. */
  kill(): void {
    this.#isDead = true;
    this.#gate = new Promise(() => undefined);
    this.#learns = this.#gate;
  }

  /** Stops the attempt at its next point, and its signal, until `release`. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#learns = this.#gate.then(() => new Promise((resolve) => setImmediate(resolve)));
  }

  release(): void {
    this.#open();
    if (!this.#isDead) this.#gate = null;
  }

  /** Resolves when the worker has asked the attempt to stop. */
  async stopping(): Promise<void> {
    if (!this.#signal.aborted) await new Promise((resolve) => this.#signal.addEventListener('abort', resolve));
  }

  /** Calls a handler whose points and effects belong to this attempt. */
  run<T>(handler: () => T): T {
    return current.run(this, handler);
  }

  async point(name: string): Promise<void> {
    await this.#gate;
    await this.#host.onPoint(this, name);
    await this.#gate;
  }

  async effect(name: string, idempotencyKey: string | null): Promise<void> {
    await this.point(`before effect ${name}`);
    this.#host.onEffect(name, idempotencyKey);
    await this.point(`after effect ${name}`);
  }

  /** Returns the job with points around its durable calls. */
  around<Data>(job: ActiveJob<Data>): ActiveJob<Data> {
    const changed: Partial<ActiveJob<Data>> = {
      step: (name, run, options) => {
        const runAndStop = async () => {
          const result = await run();
          await this.point(`after the function of step ${name}`);
          return result;
        };
        return this.#between(`step ${name}`, () => job.step(name, runAndStop, options));
      },
      sleep: (time, options) => this.#between(`sleep ${options?.name ?? time}`, () => job.sleep(time, options)),
      waitForEvent: (name, options) => this.#between(`event ${name}`, () => job.waitForEvent(name, options)),
      children: (jobs, options) => this.#between(options?.name ?? 'children', () => job.children(jobs, options)),
    };
    const signal = (): AbortSignal => {
      Object.defineProperty(changed, 'signal', { value: this.#lateSignal() });
      return (changed as ActiveJob<Data>).signal;
    };
    return new Proxy(job, {
      get: (target, key) => {
        if (Object.hasOwn(changed, key)) return changed[key as keyof ActiveJob];
        // The receiver is the job itself, whose fields are private.
        return key === 'signal' ? signal() : (Reflect.get(target, key, target) as unknown);
      },
    });
  }

  async #between<T>(what: string, call: () => Promise<T>): Promise<T> {
    await this.point(`before ${what}`);
    const result = await call();
    await this.point(`after ${what}`);
    return result;
  }

  /** Follows a signal. A process that stands still learns of an abort a moment after it continues, a dead one never. */
  #lateSignal(): AbortSignal {
    const controller = new AbortController();
    const follow = async (): Promise<void> => {
      if (this.#learns !== null) await this.#learns;
      controller.abort(this.#signal.reason);
    };
    if (this.#signal.aborted) void follow();
    else this.#signal.addEventListener('abort', () => void follow(), { once: true });
    return controller.signal;
  }
}
