/** The errors of steps that a handler may meet. */

/**
 * Rejects `sleep`, `waitForEvent` and `children` when the attempt is suspended, and every later call of the job. The
 * handler need not catch it: whatever it returns or throws from then on is ignored.
 */
export class Suspended extends Error {
  constructor(what: string) {
    super(`the attempt is suspended: ${what}`);
    this.name = 'Suspended';
  }
}

/** Thrown by `waitForEvent` when the event did not arrive in time, and by `step` when its function took too long. */
export class StepTimeout extends Error {
  /** The step. */
  readonly step: string;

  constructor(step: string, what: string) {
    super(what);
    this.name = 'StepTimeout';
    this.step = step;
  }
}
