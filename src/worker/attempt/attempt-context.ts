/**
 * The context that a runner receives with its attempt. Its functions may be detached and passed on.
 *
 * A class with getters, and not an object literal with a getter: each such literal has its own shape, and V8 keeps
 * shapes, with the job they refer to, through the next garbage collections. Most short handlers call none of these
 * functions, so they are created on first use.
 */
import type { Attempt } from './attempt.ts';
import type { AttemptContext } from './run-outcome.ts';

export class ContextOfAttempt implements AttemptContext {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  get onStop(): AttemptContext['onStop'] {
    return (listener) => this.#attempt.onStop(listener);
  }

  get progress(): AttemptContext['progress'] {
    return (percent, text = null) => this.#attempt.progress(percent, text);
  }

  get progressNow(): AttemptContext['progressNow'] {
    return (percent, text) => this.#attempt.heartbeat({ progress: { percent, text } });
  }

  get checkpoint(): AttemptContext['checkpoint'] {
    return (value) => this.#attempt.heartbeat({ checkpoint: value });
  }

  get replaceData(): AttemptContext['replaceData'] {
    return (value) => this.#attempt.heartbeat({ data: value });
  }

  get started(): AttemptContext['started'] {
    return (pid) => void this.#attempt.heartbeat({ started: { pid } });
  }

  get alive(): AttemptContext['alive'] {
    return () => this.#attempt.limits?.alive();
  }

  get ranBefore(): AttemptContext['ranBefore'] {
    return (ms) => this.#attempt.limits?.ranBefore(ms);
  }

  get pauseLimits(): AttemptContext['pauseLimits'] {
    return (isPaused) => this.#attempt.limits?.pauseLimits(isPaused);
  }

  get heartbeatNow(): AttemptContext['heartbeatNow'] {
    return () => this.#attempt.heartbeat({});
  }

  get confirmLease(): AttemptContext['confirmLease'] {
    return () => this.#attempt.confirmLease();
  }
}
