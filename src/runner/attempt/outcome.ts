/**
 * The outcome of a script: its reports combined with its exit status, by the rules of RQ. Pure.
 *
 * The first reported completion wins, but an exit status other than 0 turns everything into `err`. Without a
 * completion, a queue of Longhaul uses the exit status alone (`optional`); a queue of RQ also requires the report
 * (`required`).
 */

import type { Completion, Reports } from '../protocol/reports.ts';
import type { Exit } from './attempt-files.ts';

export type Handshake = 'optional' | 'required';

export type ScriptOutcome =
  | { readonly kind: 'done'; readonly status: string | null }
  /** The status text is the address that the job was relayed to. */
  | { readonly kind: 'relayed'; readonly status: string | null; readonly address: string }
  | { readonly kind: 'resend'; readonly status: string | null; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'err'; readonly status: string | null; readonly because: ErrReason };

/**
 * `reported`: the script reported err. `exit`: its exit status was not 0, whatever it reported. `silent`: it exited
 * with 0 and reported no completion.
 */
export type ErrReason = 'said' | 'exit' | 'silent';

/** Returns the outcome of a script. */
export function scriptOutcomeOf(said: Reports, exit: Pick<Exit, 'status'>, handshake: Handshake): ScriptOutcome {
  const { completion, status } = said;
  if (completion?.kind === 'err') return { kind: 'err', status, because: 'said' };
  if (exit.status !== 0) {
    const isPlain = completion === null && handshake === 'optional';
    return {
      kind: 'err',
      status: isPlain ? exitMessage(status, exit) : improperExitMessage(completion, exit),
      because: 'exit',
    };
  }
  if (completion !== null) return completed(completion, status);
  return handshake === 'optional' ? { kind: 'done', status } : { kind: 'err', status, because: 'silent' };
}

function completed(completion: Completion, status: string | null): ScriptOutcome {
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

/** Describes a failed exit of a script that has no completion to report. */
function exitMessage(status: string | null, exit: Pick<Exit, 'status'>): string {
  const text = `exited with status ${exit.status}`;
  return status === null || status === '' ? text : `${text}; its last status: ${status}`;
}

/** RQ's own text. It replaces the last status, as it does in RQ. */
function improperExitMessage(completion: Completion | null, exit: Pick<Exit, 'status'>): string {
  const what = completion?.kind ?? '';
  return `PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${what} but exit status was ${exit.status}`;
}
