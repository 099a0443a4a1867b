/** Finds the line of a script's log that says why it failed, for a script that gave no message of its own. */
import { cut, groupOfMessage, MAX_GROUP_LENGTH } from '../../core/job/failure.ts';
import type { Failure } from '../../core/job/job.ts';
import type { AttemptEnd } from '../../runner/attempt/attempt.ts';
import { lastLines } from '../attempts/log-lines.ts';
import { secretsOfAttempt } from './secrets.ts';

/** How many of the last lines are read: a stack trace may follow its error. */
const READ_LINES = 40;
const MAX_LENGTH = 1_000;

/** What the message of a failed exit says when the script gave none (runner/attempt/outcome.ts). */
const EXIT = /^(step .+: )?exited with status \d+/;

/** Returns the failure with the line as its message. A script that gave its own message or group keeps it. */
export async function withErrorLine(
  folder: string,
  { end, failure }: { readonly end: AttemptEnd; readonly failure: Failure },
): Promise<Failure> {
  const generated = EXIT.exec(failure.message);
  // A script that was killed did not choose its last line.
  if (generated === null || end.exit === null || end.exit.signal !== null) return failure;
  const [, step = ''] = generated;
  // The outcome does not depend on the log, which may be gone.
  const line = await lastErrorLine(folder).catch(() => null);
  if (line === null) return failure;
  const group = end.said.group ?? cut(`${failure.group}: ${groupOfMessage(line)}`, MAX_GROUP_LENGTH);
  const status = failure.message.slice(step.length);
  return { group, message: `${step}${line}`, detail: status.includes(';') ? status : failure.detail };
}

async function lastErrorLine(folder: string): Promise<string | null> {
  const options = { secrets: await secretsOfAttempt(folder), isRunning: false };
  const { lines } = await lastLines(folder, READ_LINES, options);
  return errorLineOf(lines.map(({ text }) => text));
}

const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;
const ERROR =
  /error|exception|fatal|fail|panic|cannot|can't|could not|unable|denied|not found|no such|invalid|refused/i;
/** The frames of a stack trace, what Node prints after one, and what `longhaul step` prints of a command that failed. */
const FRAME = /^\s+at |^\s*File "|^Node\.js v\d|^longhaul: step .+ failed: /;

/** Returns the last line that names an error, else the last line with text; null without one. */
export function errorLineOf(lines: readonly string[]): string | null {
  const texts = lines.filter((line) => !FRAME.test(line)).map(plain);
  const found = texts.findLast((text) => ERROR.test(text)) ?? texts.findLast((text) => text !== '');
  return found === undefined || found === '' ? null : cut(found, MAX_LENGTH);
}

/** Returns what a terminal shows in the end: without colours, and without what a carriage return overwrites. */
function plain(line: string): string {
  const parts = line.replace(SEQUENCES, '').split('\r');
  return (parts.findLast((part) => part.trim() !== '') ?? '').replace(CONTROLS, ' ').trim();
}
