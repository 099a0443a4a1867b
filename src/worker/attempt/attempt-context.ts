/**
 * What a runner is handed of its attempt. Its functions may be taken out of it and handed on.
 *
 * A class with getters, and not an object with a getter of its own: each such object would have a shape of its own,
 * and shapes live so long that what they refer to (the job) outlives the next collections of garbage. And most short
 * handlers call none of these, so they are made when they are asked for.
 */

import type { Words } from '../lease/lease-renewer.ts';
import type { LimitWatch } from './attempt-limits.ts';
import type { AttemptContext } from './run-outcome.ts';

/** The attempt, as its runner may move it. */
export interface AttemptWays {
  /** Null when it has no limits. */
  readonly limits: LimitWatch | null;
  signal(): AbortSignal;
  progress(percent: number | null, text: string | null): void;
  /** Resolved when the store has it. */
  sayNow(words: Words): Promise<void>;
}

export class ContextOfAttempt implements AttemptContext {
  readonly #ways: AttemptWays;

  constructor(ways: AttemptWays) {
    this.#ways = ways;
  }

  get signal(): AbortSignal {
    return this.#ways.signal();
  }

  get progress(): AttemptContext['progress'] {
    return (percent, text = null) => this.#ways.progress(percent, text);
  }

  get progressNow(): AttemptContext['progressNow'] {
    return (percent, text) => this.#ways.sayNow({ progress: { percent, text } });
  }

  get checkpoint(): AttemptContext['checkpoint'] {
    return (value) => this.#ways.sayNow({ checkpoint: value });
  }

  get replaceData(): AttemptContext['replaceData'] {
    return (value) => this.#ways.sayNow({ data: value });
  }

  get started(): AttemptContext['started'] {
    return (pid) => void this.#ways.sayNow({ started: { pid } });
  }

  get alive(): AttemptContext['alive'] {
    return () => this.#ways.limits?.alive();
  }

  get ranBefore(): AttemptContext['ranBefore'] {
    return (ms) => this.#ways.limits?.ranBefore(ms);
  }

  get standStill(): AttemptContext['standStill'] {
    return (isStill) => this.#ways.limits?.standStill(isStill);
  }

  get heartbeatNow(): AttemptContext['heartbeatNow'] {
    return () => this.#ways.sayNow({});
  }
}
