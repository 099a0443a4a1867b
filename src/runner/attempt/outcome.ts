/**
 * The outcome of a script: its reports combined with its exit status, by the rules of RQ. Pure.
 *
 * The first reported completion wins, but an exit status other than 0 turns everything into `err`. Without a
 * completion, a queue of Longhaul uses the exit status alone (`optional`); a queue of RQ also requires the report
 * (`required`). A script that asks for a retry has failed, whatever its exit status. One that waits exits with 0, or with the status that `longhaul step` gave it.
 */

import type { RetryVerb, WaitVerb } from '../protocol/parse-verb.ts';
import type { Completion, Reports } from '../protocol/reports.ts';
import type { Exit } from './attempt-files.ts';

export type Handshake = 'optional' | 'required';

export type ScriptOutcome =
  | { readonly kind: 'done'; readonly status: string | null }
  /** The status text is the address that the job was relayed to. */
  | { readonly kind: 'relayed'; readonly status: string | null; readonly address: string }
  | { readonly kind: 'resend'; readonly status: string | null; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'retry'; readonly status: string | null; readonly delayMs: number; readonly reason: string }
  /** It waits for a time or an event, and is started again. */
  | { readonly kind: 'suspend'; readonly status: string | null; readonly wait: WaitVerb }
  | { readonly kind: 'err'; readonly status: string | null; readonly because: ErrReason };

/**
 * `reported`: the script reported err. `exit`: its exit status was not 0, whatever it reported. `silent`: it exited
 * with 0 and reported no completion.
 */
export type ErrReason = 'said' | 'exit' | 'silent';

/** EX_TEMPFAIL of sysexits.h: what `longhaul step` exits with when the script must end for a wait. */
export const WAIT_STATUS = 75;

/** How the process of a script ended. The pid is null where it is not known. */
export interface ScriptExit extends Pick<Exit, 'status' | 'signal'> {
  readonly pid: number | null;
}

/** Returns the outcome of a script. */
export function scriptOutcomeOf(said: Reports, exit: ScriptExit, handshake: Handshake): ScriptOutcome {
  const { completion, status } = said;
  if (completion?.kind === 'err') return { kind: 'err', status, because: 'said' };
  if (completion?.kind === 'retry')
    return { kind: 'retry', status, delayMs: completion.delayMs, reason: completion.text };
  if (completion?.kind === 'sleep' || completion?.kind === 'wait') {
    if (exit.status === 0 || exit.status === WAIT_STATUS) return { kind: 'suspend', status, wait: completion };
    return { kind: 'err', status: exitMessage(status, exit), because: 'exit' };
  }
  if (exit.status !== 0) {
    const isPlain = completion === null && handshake === 'optional';
    return {
      kind: 'err',
      status: isPlain ? exitMessage(status, exit) : improperExitMessage(completion, exit),
      because: 'exit',
    };
  }
  if (completion !== null) return completed(completion, status);
  if (handshake === 'required') return { kind: 'err', status, because: 'silent' };
  return said.unclear === null ? { kind: 'done', status } : { kind: 'err', status: said.unclear, because: 'said' };
}

function completed(completion: Exclude<Completion, RetryVerb | WaitVerb>, status: string | null): ScriptOutcome {
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
function exitMessage(status: string | null, exit: ScriptExit): string {
  const text = `exited with status ${exit.status}`;
  return status === null || status === '' ? text : `${text}; its last status: ${status}`;
}

/** RQ's own text. It replaces the last status, as it does in RQ. */
function improperExitMessage(completion: Completion | null, exit: ScriptExit): string {
  const what = completion?.kind ?? '';
  return `PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${what} but exit status was ${rubyStatus(exit)}`;
}

/** Describes an exit as Ruby prints it: `pid 5824 exit 1` or `pid 5857 SIGTERM (signal 15)`. */
function rubyStatus({ pid, status, signal }: ScriptExit): string {
  const how = signal === null ? `exit ${status}` : `${signal} (signal ${status - SIGNAL_BASE})`;
  return pid === null ? how : `pid ${pid} ${how}`;
}

/** A shell reports a death by signal n as 128 + n. */
const SIGNAL_BASE = 128;
