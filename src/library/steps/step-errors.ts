/**
 * The errors of steps that a handler may meet.
 *
 * Their marks are registered: the module of an isolated handler may load its own copy of this file, and `instanceof` must
 * recognize the errors of the other copy.
 */
const SUSPENDED: unique symbol = Symbol.for('longhaul.suspended');
const STEP_TIMEOUT: unique symbol = Symbol.for('longhaul.step-timeout');

const hasMark = (value: unknown, mark: symbol): boolean => typeof value === 'object' && value !== null && mark in value;

/**
 * Rejects `sleep`, `waitForEvent` and `children` when the attempt is suspended, and every later call of the job. The
 * handler need not catch it: whatever it returns or throws from then on is ignored.
 */
export class Suspended extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return hasMark(value, SUSPENDED);
  }

  constructor(what: string) {
    super(`the attempt is suspended: ${what}`);
    this.name = 'Suspended';
  }

  get [SUSPENDED](): true {
    return true;
  }
}

/** Thrown by `waitForEvent` when the event did not arrive in time, and by `step` when its function took too long. */
export class StepTimeout extends Error {
  /** The step. */
  readonly step: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return hasMark(value, STEP_TIMEOUT);
  }

  constructor(step: string, what: string) {
    super(what);
    this.name = 'StepTimeout';
    this.step = step;
  }

  get [STEP_TIMEOUT](): true {
    return true;
  }
}
