/** Why a try to hand a job on came to nothing. Thrown by the steps of a relay, and caught where the attempt ends. */
import type { OutboundCode } from '../../outbound/outbound-call.ts';

/** A word for the failure's group: what can be counted, and told apart by a program. */
export type RelayCode =
  | OutboundCode
  | 'no-destination'
  | 'loop'
  | 'no-such-queue'
  | 'queue-closed'
  | 'no-space'
  | 'wrong-hash'
  | 'unauthorized'
  | 'refused'
  | 'not-a-node';

/** Trying again cannot help: what is wrong is in the job itself. */
const FINAL: ReadonlySet<RelayCode> = new Set(['bad-address', 'no-destination', 'loop']);

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
