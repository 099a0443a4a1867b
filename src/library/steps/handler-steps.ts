/**
 * The durable calls of a handler: `step`, `sleep`, `waitForEvent`, `children`.
 *
 *     running ──a wait that takes long──▶ suspending ──no step in flight──▶ suspended
 *
 * While suspending, steps in flight continue and keep their results; every new call rejects with `Suspended`, as does the
 * wait itself once no step is in flight.
 * Invariant: a step that is done in the store never runs again.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Duration } from '../../core/input/duration.ts';
import { toJsonText } from '../../core/input/json.ts';
import { failureOf, isFinal, markStep } from '../../core/job/failure.ts';
import { suspensionText } from '../../core/job/step.ts';
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { KeptSteps } from './kept-steps.ts';
import type { StepCalls } from './step-calls.ts';
import { StepTimeout, Suspended } from './step-errors.ts';
import type { CheckedStep, ChildJob, ChildResult, StepOptions } from './step-options.ts';
import { checkName, checkSleep, checkStep, checkWait } from './step-options.ts';

type SuspendOutcome = AttemptOutcome & { readonly kind: 'suspend' };

/** Shorter sleeps stay in the worker. */
const MAX_SLEEP_MS = 5_000;

/** The step in whose function a call is made. */
const insideStep = new AsyncLocalStorage<{ readonly of: HandlerSteps; readonly name: string }>();

export class HandlerSteps {
  readonly #calls: StepCalls;
  readonly #signal: () => AbortSignal;
  readonly #kept: KeptSteps;
  #inFlight = 0;
  #suspension: SuspendOutcome | null = null;
  #onIdle: (() => void)[] = [];

  /** `hasEarlier` says whether the job had steps when it was claimed. */
  constructor(calls: StepCalls, hasEarlier: boolean, signal: () => AbortSignal) {
    this.#calls = calls;
    this.#signal = signal;
    this.#kept = new KeptSteps(calls, hasEarlier, signal);
  }

  /** Returns the outcome of a suspended attempt when no step is in flight; null if it is not suspended. */
  async outcome(): Promise<SuspendOutcome | null> {
    if (this.#suspension !== null) await this.#idle();
    return this.#suspension;
  }

  /** Throws if the attempt is suspended. */
  check(): void {
    if (this.#suspension !== null) throw new Suspended(suspensionText(this.#suspension));
  }

  async step<Result>(name: string, run: () => Promise<Result> | Result, options: StepOptions = {}): Promise<Result> {
    this.check();
    const plan = checkStep(name, options);
    const key = this.#kept.nextName('run', name);
    return this.#whileInFlight(async () => {
      const earlier = await this.#kept.earlier('run', key);
      if (earlier?.status === 'done') return parse<Result>(earlier.result);
      this.check();
      return this.#run(key, run, { ...plan, attempts: earlier?.attempts ?? 0 });
    });
  }

  async sleep(time: Duration, { name = 'sleep' }: { name?: string } = {}): Promise<void> {
    const ms = checkSleep(time);
    this.#checkWait('sleep');
    const key = this.#kept.nextName('sleep', checkName('sleep', name));
    const { step, now } = await this.#kept.keep({ kind: 'sleep', name: key, status: 'waiting', delayMs: ms });
    this.check();
    const until = step.until ?? now;
    if (until - now > MAX_SLEEP_MS) return this.#suspend({ until, event: null, children: null });
    if (until > now) await this.#whileInFlight(() => delay(until - now, undefined, { signal: this.#signal() }));
  }

  async waitForEvent<Data>(name: string, options: { timeout?: Duration } = {}): Promise<Data> {
    const timeoutMs = checkWait(name, options);
    this.#checkWait('waitForEvent');
    const event = { kind: 'event', name: this.#kept.nextName('event', name) } as const;
    const wait = { ...event, status: 'waiting', ...(timeoutMs !== null && { delayMs: timeoutMs }) } as const;
    const { step, now } = await this.#kept.keep(wait);
    this.check();
    if (step.status === 'waiting' && (step.until === null || step.until > now))
      return this.#suspend({ until: step.until, event: event.name, children: null });
    // The step decides between an event and a timeout that come together.
    const isLate =
      step.status === 'waiting' && (await this.#kept.keep({ ...event, status: 'failed' })).step.status !== 'arrived';
    if (isLate || step.status === 'failed') throw new StepTimeout(event.name, `event ${name} did not arrive in time`);
    return parse<Data>((await this.#kept.keep({ ...event, status: 'done' })).step.result);
  }

  async children<Result>(
    jobs: readonly ChildJob[],
    { name = 'children' }: { name?: string } = {},
  ): Promise<readonly ChildResult<Result>[]> {
    this.#checkWait('children');
    const step = { kind: 'children', name: this.#kept.nextName('children', checkName('children', name)) } as const;
    const earlier = await this.#kept.earlier('children', step.name);
    if (earlier?.status === 'done') return parse<readonly ChildResult<Result>[]>(earlier.result);
    await this.#kept.keep({ ...step, status: 'waiting' });
    const ids = await this.#kept.call(() => this.#calls.addChildren(step.name, jobs));
    const results = await this.#kept.call(() => this.#calls.childResults(ids));
    this.check();
    // A job that was suspended for them resumes only when it waits for none of them any more.
    const isOver = results.every(
      ({ state }) =>
        state === null || state === 'done' || (earlier !== undefined && state !== 'waiting' && state !== 'running'),
    );
    if (!isOver) return this.#suspend({ until: null, event: null, children: ids });
    const { step: kept } = await this.#kept.keep({ ...step, status: 'done', result: toJsonText('children', results) });
    return parse<readonly ChildResult<Result>[]>(kept.result);
  }

  /** Calls the function of a step, again after a failure while it has retries, and keeps what it returns. */
  async #run<Result>(
    name: string,
    run: () => Promise<Result> | Result,
    plan: CheckedStep & { readonly attempts: number },
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const startedAt = performance.now();
      const end = () =>
        ({
          kind: 'run',
          name,
          attempts: plan.attempts + tries,
          ranMs: Math.round(performance.now() - startedAt),
        }) as const;
      try {
        const value = await insideStep.run({ of: this, name }, () => withTimeout(name, run, plan.timeoutMs));
        const result = toJsonText(`result of step ${name}`, value, { dates: 'text' });
        return parse<Result>((await this.#kept.keep({ ...end(), status: 'done', result })).step.result);
      } catch (error) {
        if (!isOwn(error) || this.#signal().aborted) throw error;
        await this.#kept.keep({ ...end(), status: 'failed', failure: failureOf(error).message });
        // A timeout names its step itself.
        if (!(error instanceof StepTimeout)) markStep(error, name);
        if (tries > plan.retries || isFinal(error)) throw error;
      }
      await delay(backoffMs(plan.backoff, tries, 0), undefined, { signal: this.#signal() });
      this.check();
    }
  }

  /** Waits until no step is in flight, then rejects. The first suspension counts. */
  async #suspend(wait: Omit<SuspendOutcome, 'kind'>): Promise<never> {
    this.#suspension ??= { kind: 'suspend', ...wait };
    await this.#idle();
    throw new Suspended(suspensionText(wait));
  }

  /** A wait inside a step would wait for itself. */
  #checkWait(call: string): void {
    this.check();
    const step = insideStep.getStore();
    if (step?.of === this) throw new Error(`job.${call}() was called inside step ${step.name}: call it between steps`);
  }

  async #whileInFlight<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  }

  async #idle(): Promise<void> {
    while (this.#inFlight > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}

/** Errors of the store and of the suspension are not failures of the step. */
function isOwn(error: unknown): boolean {
  return !(error instanceof Suspended) && !(error instanceof LonghaulError && error.code === 'refused');
}

function parse<Value>(text: string | null): Value {
  return JSON.parse(text ?? 'null') as Value;
}

async function withTimeout<Result>(
  name: string,
  run: () => Promise<Result> | Result,
  timeoutMs: number | null,
): Promise<Result> {
  if (timeoutMs === null) return run();
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StepTimeout(name, `step ${name} took longer than ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([Promise.resolve().then(run), isLate]).finally(() => clearTimeout(timer));
}
