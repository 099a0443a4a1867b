/** Why a call came to nothing. Thrown by its steps, and caught where the attempt ends. */
import type { OutboundCode } from '../../outbound/outbound-call.ts';

export type HookCode = OutboundCode | 'no-hook' | 'no-secret' | 'gone' | 'status';

/** Trying again cannot help. */
const FINAL: ReadonlySet<HookCode> = new Set(['no-hook', 'gone', 'bad-address']);

export class HookFailure extends Error {
  readonly code: HookCode;
  /** How long the receiver asks to be left alone. */
  readonly delayMs: number | undefined;

  constructor(code: HookCode, message: string, delayMs?: number) {
    super(message);
    this.name = 'HookFailure';
    this.code = code;
    this.delayMs = delayMs;
  }

  get isFinal(): boolean {
    return FINAL.has(this.code);
  }
}
