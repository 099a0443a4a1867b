/** Why an attempt to relay a job failed. Thrown by the steps of a relay, and caught where the attempt ends. */
import type { OutboundCode } from '../../outbound/outbound-call.ts';

/** The failure group: countable, and readable by programs. */
export type RelayCode =
  | OutboundCode
  | 'no-destination'
  | 'loop'
  | 'bad-file-name'
  | 'no-such-queue'
  | 'queue-closed'
  | 'no-space'
  | 'wrong-hash'
  | 'unauthorized'
  | 'refused'
  | 'not-a-node';

/** A retry cannot help: the job itself is wrong. */
const FINAL: ReadonlySet<RelayCode> = new Set(['bad-address', 'no-destination', 'loop', 'bad-file-name']);

export class RelayFailure extends Error {
  readonly code: RelayCode;

  constructor(code: RelayCode, message: string) {
    super(message);
    this.name = 'RelayFailure';
    this.code = code;
  }

  get isFinal(): boolean {
    return FINAL.has(this.code);
  }
}
