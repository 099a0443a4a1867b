/** Maps the end of a script to an attempt outcome. Pure. */
import { groupOfMessage } from '../../core/job/failure.ts';
import type { Failure } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { LARGE_RESULT } from '../../files/outputs/result-file.ts';
import type { AttemptEnd, OverMemory } from '../../runner/attempt/attempt.ts';
import type { Exit } from '../../runner/attempt/attempt-files.ts';
import type { ScriptOutcome } from '../../runner/attempt/outcome.ts';
import { scriptOutcomeOf } from '../../runner/attempt/outcome.ts';
import type { WaitVerb } from '../../runner/protocol/parse-verb.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { isLargeResult } from './outputs.ts';

/** The script waits: its step says until when (steps/wait-steps.ts). */
export interface WaitEnding {
  readonly kind: 'wait';
  readonly wait: WaitVerb;
}

export function scriptOutcome(
  end: AttemptEnd,
  settings: QueueSettings,
  pid: number | null,
): AttemptOutcome | WaitEnding {
  if (end.overMemory !== null) return { kind: 'fail', failure: outOfMemory(end, end.overMemory) };
  if (end.exit === null) return { kind: 'crash', reason: end.isOverdue ? 'its deadline passed' : 'its shim was lost' };
  if (isOutcomeLost(end.exit))
    return { kind: 'crash', reason: 'its reports on file descriptor 3 could not be written' };
  const ending = scriptOutcomeOf(end.said, { ...end.exit, pid }, settings.handshake);
  switch (ending.kind) {
    case 'done':
      return { kind: 'complete', result: resultOf(end.said.result, ending.status) };
    case 'relayed':
      return { kind: 'forward', address: ending.address };
    case 'resend':
      return { kind: 'resend', delayMs: ending.delayMs, reason: ending.reason };
    case 'retry':
      return retryOf(end, ending);
    case 'suspend':
      return { kind: 'wait', wait: ending.wait };
    case 'err':
      return { kind: 'fail', failure: failureOf(end, ending) };
  }
}

function retryOf(end: AttemptEnd, { delayMs, reason }: ScriptOutcome & { kind: 'retry' }): AttemptOutcome {
  const { group, throttle } = end.said;
  const message = reason === '' ? 'asked for another try' : reason;
  const failure = { group: group ?? 'retry', message, detail: exitText(end) };
  return { kind: 'retry', failure, delayMs, ...(throttle !== null && { throttle }) };
}

/** A script that exited with 0 may have reported a result, a failure or a wait where the disk was full. */
const isOutcomeLost = ({ status, areReportsComplete }: Exit): boolean => status === 0 && !areReportsComplete;

function outOfMemory(end: AttemptEnd, { usedBytes, limitBytes }: OverMemory): Failure {
  const message = `out of memory: its processes used ${inMegabytes(usedBytes)}, and limits.memory is ${inMegabytes(limitBytes)}`;
  return { group: end.said.group ?? 'out of memory', message, detail: exitText(end) };
}

const inMegabytes = (bytes: number): string => `${Math.round((bytes / 1024 ** 2) * 10) / 10} MB`;

/** A script without a result leaves its last status text. A result too large for the store became an attachment. */
function resultOf(result: string | null, status: string | null): string {
  if (result !== null) return isLargeResult(result) ? LARGE_RESULT : result;
  return status === null ? 'null' : JSON.stringify({ status });
}

function failureOf(end: AttemptEnd, ending: ScriptOutcome & { kind: 'err' }): Failure {
  const message = ending.status === null || ending.status === '' ? exitText(end) : ending.status;
  return { group: end.said.group ?? groupOf(end, ending), message, detail: exitText(end) };
}

function groupOf({ exit, oom }: AttemptEnd, { because, status }: ScriptOutcome & { kind: 'err' }): string {
  if (because === 'said') return groupOfMessage(status === null || status === '' ? 'err' : status);
  if (because === 'silent') return 'no completion';
  if (oom === 'likely') return 'out of memory';
  if (exit === null) return 'lost';
  return exit.signal === null ? `exit ${exit.status}` : `killed by ${exit.signal}`;
}

function exitText({ exit, oom }: AttemptEnd): string {
  if (exit === null) return 'its exit status is not known';
  if (oom === 'likely') return 'killed because memory ran out';
  return exit.signal === null ? `exit status ${exit.status}` : `killed by ${exit.signal}`;
}
