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
import type { Step, StepSums } from '../../core/job/step.ts';
import { MAX_SHORT_SLEEP_MS, MAX_STEPS, suspensionText } from '../../core/job/step.ts';
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import { refuseStep } from '../../core/lifecycle/steps.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { tracedStep } from '../../telemetry/traced-step.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { KeptSteps } from './kept-steps.ts';
import { isLargeStep } from './large-step.ts';
import type { Kept, StepCalls, WrittenStep } from './step-calls.ts';
import { StepTimeout, Suspended } from './step-errors.ts';
import type { CheckedStep, ChildJob, ChildResult, StepOptions } from './step-options.ts';
import { checkName, checkSleep, checkStep, checkWait } from './step-options.ts';

type SuspendOutcome = AttemptOutcome & { readonly kind: 'suspend' };

/** The step in whose function a call is made. */
const insideStep = new AsyncLocalStorage<{ readonly of: HandlerSteps; readonly name: string }>();

export interface HandlerStepsOptions {
  /** The id of the job. */
  readonly id: string;
  readonly calls: StepCalls;
  /** The steps that the job had when it was claimed. */
  readonly before: StepSums | null;
  /** Whether the attempt was suspended for other jobs and now resumes. */
  readonly hasWaitedForJobs: boolean;
  signal(): AbortSignal;
  /** Returns the result of a kept step, wherever it is. */
  resultOf(step: Step): Promise<unknown>;
}

export class HandlerSteps {
  readonly #options: HandlerStepsOptions;
  readonly #kept: KeptSteps;
  readonly #inFlight = new Map<symbol, Promise<unknown>>();
  #suspension: SuspendOutcome | null = null;
  #onIdle: (() => void)[] = [];

  constructor(options: HandlerStepsOptions) {
    this.#options = options;
    this.#kept = new KeptSteps(options.calls, options.before, () => options.signal());
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

  step<Result>(name: string, run: () => Promise<Result> | Result, options: StepOptions = {}): Promise<Result> {
    return this.#whileInFlight(async () => {
      this.#checkOutside('step');
      const plan = checkStep(name, options);
      const key = this.#kept.nextName('run', name);
      const earlier = await this.#kept.earlier('run', key);
      if (earlier?.status === 'done') return this.#resultOf<Result>(earlier);
      this.check();
      if (earlier === undefined) this.#checkRoom(key);
      return this.#run(key, run, { ...plan, attempts: earlier?.attempts ?? 0 });
    });
  }

  async sleep(time: Duration, { name = 'sleep' }: { name?: string } = {}): Promise<void> {
    const ms = checkSleep(time);
    this.#checkOutside('sleep');
    const key = this.#kept.nextName('sleep', checkName('sleep', name));
    const { step, now } = await this.#begin({ kind: 'sleep', name: key, status: 'waiting', delayMs: ms });
    this.check();
    const until = step.until ?? now;
    if (until - now > MAX_SHORT_SLEEP_MS) return this.#suspend({ until, event: null, children: null });
    if (until > now) await this.#whileInFlight(() => delay(until - now, undefined, { signal: this.#options.signal() }));
  }

  async waitForEvent<Data>(name: string, options: { timeout?: Duration } = {}): Promise<Data> {
    const timeoutMs = checkWait(name, options);
    this.#checkOutside('waitForEvent');
    const event = { kind: 'event', name: this.#kept.nextName('event', name) } as const;
    const wait = { ...event, status: 'waiting', ...(timeoutMs !== null && { delayMs: timeoutMs }) } as const;
    const { step, now } = await this.#begin(wait);
    this.check();
    if (step.status === 'waiting' && (step.until === null || step.until > now))
      return this.#suspend({ until: step.until, event: event.name, children: null });
    // The step decides between an event and a timeout that come together.
    const isLate =
      step.status === 'waiting' && (await this.#kept.keep({ ...event, status: 'failed' })).step.status !== 'arrived';
    if (isLate || step.status === 'failed') throw new StepTimeout(event.name, `event ${name} did not arrive in time`);
    return this.#resultOf<Data>((await this.#kept.keep({ ...event, status: 'done' })).step);
  }

  async children<Result>(
    jobs: readonly ChildJob[],
    { name = 'children' }: { name?: string } = {},
  ): Promise<readonly ChildResult<Result>[]> {
    this.#checkOutside('children');
    const step = { kind: 'children', name: this.#kept.nextName('children', checkName('children', name)) } as const;
    const earlier = await this.#kept.earlier('children', step.name);
    if (earlier?.status === 'done') return this.#resultOf<readonly ChildResult<Result>[]>(earlier);
    await this.#begin({ ...step, status: 'waiting' });
    const ids = await this.#kept.call(() => this.#options.calls.addChildren(step.name, jobs));
    const results = await this.#kept.call(() => this.#options.calls.childResults(ids));
    this.check();
    // The suspension applies the job's rule for failed jobs; a job that resumes from it no longer waits for those.
    const isOver = results.every(
      ({ state }) =>
        state === null ||
        state === 'done' ||
        (this.#options.hasWaitedForJobs && state !== 'waiting' && state !== 'running'),
    );
    if (!isOver) return this.#suspend({ until: null, event: null, children: ids });
    return this.#keepResult<readonly ChildResult<Result>[]>(step, results);
  }

  /** Calls the function of a step, again after a failure while it has retries, and keeps what it returns. */
  async #run<Result>(
    name: string,
    run: () => Promise<Result> | Result,
    plan: CheckedStep & { readonly attempts: number },
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      // After a blocked event loop, the loss of the lease may still be on its way to this thread.
      await this.#options.calls.confirmLease();
      const startedAt = performance.now();
      const end = () =>
        ({
          kind: 'run',
          name,
          attempts: plan.attempts + tries,
          ranMs: Math.round(performance.now() - startedAt),
        }) as const;
      try {
        const inStep = () => insideStep.run({ of: this, name }, () => withTimeout(name, run, plan.timeoutMs));
        const value = await tracedStep(name, inStep);
        return await this.#keepResult<Result>(end(), value);
      } catch (error) {
        if (!isOwn(error) || this.#options.signal().aborted) throw error;
        await this.#kept.keep({ ...end(), status: 'failed', failure: failureOf(error).message });
        // A timeout names its step itself.
        if (!(error instanceof StepTimeout)) markStep(error, name);
        if (tries > plan.retries || isFinal(error)) throw error;
      }
      this.check();
      await delay(backoffMs(plan.backoff, tries, 0), undefined, { signal: this.#options.signal() });
      this.check();
    }
  }

  /** Keeps a result for good. Returns it as JSON has it. */
  async #keepResult<Result>(step: Omit<WrittenStep, 'status' | 'result'>, value: unknown): Promise<Result> {
    const result = toJsonText(`result of step ${step.name}`, value, { dates: 'text', isLimited: false });
    const write = { ...step, status: 'done', result } as const;
    const { step: kept } = await this.#kept.keep(write);
    return isLargeStep(write) ? (JSON.parse(result) as Result) : this.#resultOf<Result>(kept);
  }

  async #resultOf<Result>(step: Step): Promise<Result> {
    return (await this.#options.resultOf(step)) as Result;
  }

  /** Waits until no step is in flight, then rejects. The first suspension counts. */
  async #suspend(wait: Omit<SuspendOutcome, 'kind'>): Promise<never> {
    this.#suspension ??= { kind: 'suspend', ...wait };
    for (const call of this.#inFlight.values()) ignore(call);
    await this.#idle();
    throw new Suspended(suspensionText(wait));
  }

  /** A wait inside a step would wait for itself, and a step inside a step would run again with it. */
  #checkOutside(call: string): void {
    this.check();
    const step = insideStep.getStore();
    if (step?.of === this) throw new Error(`job.${call}() was called inside step ${step.name}: call it between steps`);
  }

  /** Refuses a step before it runs: it could not be kept, and would run in every attempt. */
  #checkRoom(name: string): void {
    if (this.#kept.count < MAX_STEPS) return;
    const { refusal } = refuseStep(this.#options.id, 'count', name);
    throw new LonghaulError('refused', refusal.message, { refusal });
  }

  /** Keeps the begin of a wait, before another wait suspends the attempt: its time counts from now. */
  #begin(wait: WrittenStep): Promise<Kept> {
    return this.#whileInFlight(() => this.#kept.keep(wait));
  }

  /** Does work that a suspension waits for. What it rejects with after the suspension is ignored. `work` never throws. */
  #whileInFlight<Result>(work: () => Promise<Result>): Promise<Result> {
    const key = Symbol();
    const result = this.#untilOver(key, work);
    this.#inFlight.set(key, result);
    if (this.#suspension !== null) ignore(result);
    return result;
  }

  async #untilOver<Result>(key: symbol, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      this.#inFlight.delete(key);
      if (this.#inFlight.size === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  }

  async #idle(): Promise<void> {
    while (this.#inFlight.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}

/** Raises no unhandled rejection: what a suspended handler does is ignored. */
function ignore(call: Promise<unknown>): void {
  call.catch(() => undefined);
}

/** Errors of the store and of the suspension are not failures of the step. */
function isOwn(error: unknown): boolean {
  return !(error instanceof Suspended) && !(error instanceof LonghaulError && error.code === 'refused');
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
