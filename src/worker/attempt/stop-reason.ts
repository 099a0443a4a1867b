/**
 * Why an attempt was told to stop. The first reason wins: what comes after it changes nothing.
 *
 * `AttemptAborted` is what `signal.reason` holds and what `signal.throwIfAborted()` throws inside a handler. It is
 * no error of Longhaul's own: it never leaves the attempt it ends.
 */

export type StopReason =
  /** The store says that somebody else may hold the job by now. */
  | 'lease-lost'
  | 'cancel'
  /** No renewal for almost a lease, and other machines share the store. */
  | 'unreachable'
  | 'time-out'
  | 'silent'
  /** The worker stops and the time to drain is over. */
  | 'draining';

const WORDS: Record<StopReason, string> = {
  'lease-lost': 'the lease was lost: another worker may have the job',
  cancel: 'the job was cancelled',
  unreachable: 'the store could not be reached, and the lease is about to end',
  'time-out': 'it ran longer than it may',
  silent: 'it gave no sign of life for longer than it may',
  draining: 'its worker stops',
};

/** Named AbortError so that code which knows of signals knows it too. */
export class AttemptAborted extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(WORDS[reason]);
    this.name = 'AbortError';
    this.reason = reason;
  }
}
