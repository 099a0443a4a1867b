/** A failure as one text for people: its group and its message, without saying the same twice. Pure. */
import { groupOfMessage } from './failure.ts';
import type { Failure } from './job.ts';

const STEP = /^step .+?: /;
const STEP_AT_END = /step .+?: $/;

/** Returns `TypeError: no such file` and not `TypeError: no such file: no such file`. */
export function failureText({ group, message }: Pick<Failure, 'group' | 'message'>): string {
  if (message === '' || message === group) return group;
  const isInMessage = message.startsWith(`${group}: `) || message.endsWith(`: ${group}`);
  if (isInMessage || isPlainExit(group, message)) return message;
  const before = textBefore(group, message);
  if (before !== null) return `${before}${message}`;
  // A message that names its step: the group has the step without the number of its repetition.
  const rest = message.replace(STEP, '');
  const beforeRest = rest === message ? null : textBefore(group, rest);
  return beforeRest === null ? `${group}: ${message}` : `${beforeRest.replace(STEP_AT_END, '')}${message}`;
}

/** Whether both say only with which status a script ended. */
function isPlainExit(group: string, message: string): boolean {
  return /^(?:step .+: )?exit \d+$/.test(group) && /^(?:step .+: )?exited with status \d+/.test(message);
}

/** Returns the part of the group before the message, or null if the group does not end with the message. */
function textBefore(group: string, message: string): string | null {
  const plain = groupOfMessage(message);
  if (plain === '') return null;
  for (let from = 0; from >= 0 && from < group.length; from = next(group, from))
    // The group is cut, and so is perhaps its last character.
    if (plain.startsWith(group.slice(from))) return group.slice(0, from);
  return null;
}

const next = (group: string, from: number): number => {
  const at = group.indexOf(': ', from);
  return at < 0 ? -1 : at + 2;
};
