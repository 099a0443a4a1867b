/**
 * How an attempt ended: what it said against how its script exited, by RQ's rules. Pure.
 *
 * The first completion that was said wins, but an exit other than 0 turns everything into an err. Without any
 * completion a queue of Longhaul goes by the exit alone (`optional`); one of RQ's wants the word too (`required`).
 */

import type { Completion, Said } from '../protocol/reports.ts';
import type { Exit } from './attempt-files.ts';

export type Handshake = 'optional' | 'required';

export type Ending =
  | { readonly kind: 'done'; readonly status: string | null }
  /** The status text is the address it went to. */
  | { readonly kind: 'relayed'; readonly status: string | null; readonly address: string }
  | { readonly kind: 'resend'; readonly status: string | null; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'err'; readonly status: string | null; readonly because: BadEnding };

/** `said`: it said err. `exit`: whatever it said, its exit was not 0. `silent`: it exited 0 without the word. */
export type BadEnding = 'said' | 'exit' | 'silent';

export function endingOf(said: Said, exit: Pick<Exit, 'status'>, handshake: Handshake): Ending {
  const { completion, status } = said;
  if (completion?.kind === 'err') return { kind: 'err', status, because: 'said' };
  if (exit.status !== 0) {
    const isPlain = completion === null && handshake === 'optional';
    return { kind: 'err', status: isPlain ? plainly(status, exit) : improperly(completion, exit), because: 'exit' };
  }
  if (completion !== null) return completed(completion, status);
  return handshake === 'optional' ? { kind: 'done', status } : { kind: 'err', status, because: 'silent' };
}

function completed(completion: Completion, status: string | null): Ending {
  switch (completion.kind) {
    case 'done':
      return { kind: 'done', status };
    case 'relayed':
      return { kind: 'relayed', status, address: completion.text };
    case 'resend':
      return { kind: 'resend', status, delayMs: completion.delayMs, reason: completion.reason };
    case 'err':
      return { kind: 'err', status, because: 'said' };
  }
}

/** A script that owes no word has done nothing improper: its exit is its word. */
function plainly(status: string | null, exit: Pick<Exit, 'status'>): string {
  const words = `exited with status ${exit.status}`;
  return status === null || status === '' ? words : `${words}; it last said: ${status}`;
}

/** RQ's words. They replace what was said last, as they do there. */
function improperly(completion: Completion | null, exit: Pick<Exit, 'status'>): string {
  const what = completion?.kind ?? '';
  return `PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${what} but exit status was ${exit.status}`;
}
