/**
 * Why an attempt was asked to stop. The first reason wins; later ones do not replace it.
 *
 * `AttemptAborted` is the `signal.reason` of a handler, and what `signal.throwIfAborted()` throws in it. It is not a
 * LonghaulError, because it never leaves the attempt that it ends.
 */

export type StopReason =
  /** The store refused the lease: another worker may hold the job. */
  | 'lease-lost'
  | 'cancel'
  /** The lease could not be renewed and is about to end, and other machines share the store. */
  | 'unreachable'
  | 'time-out'
  | 'silent'
  /** The worker stops, and its drain is over. */
  | 'draining';

const MESSAGES: Record<StopReason, string> = {
  'lease-lost': 'the lease was lost: another worker may have the job',
  cancel: 'the job was cancelled',
  unreachable: 'the store could not be reached, and the lease is about to end',
  'time-out': 'it ran longer than it may',
  silent: 'it gave no sign of life for longer than it may',
  draining: 'its worker stops',
};

/** Named AbortError, so that code which handles abort signals recognises it. */
export class AttemptAborted extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(MESSAGES[reason]);
    this.name = 'AbortError';
    this.reason = reason;
  }
}
