/**
 * Turns a thrown value into a failure: data with a group, so that failures of one kind can be counted.
 *
 * Any value can be thrown, so this module trusts none of its input: it never throws, and every text has a limit.
 */
import type { Failure } from './job.ts';
import { plainName } from './step.ts';

export const MAX_GROUP_LENGTH = 120;
export const MAX_MESSAGE_LENGTH = 4_096;
export const MAX_DETAIL_LENGTH = 16_384;
const MAX_CAUSES = 4;
/** The frame of call-user-handler.ts that called the handler, and all frames after it: none of them is the user's. */
const OWN_FRAMES = /\n {4}at (?:async )?callUserHandler(?:\$\d+)? \([^]*?(?=\n(?! {4}at )|$)/;

/**
 * Returns the failure of a thrown value. The group is the error's own `group`, if set. Otherwise it is the class, the step
 * and the message without ids and numbers.
 */
export function failureOf(error: unknown): Failure {
  try {
    return read(error);
  } catch {
    // A getter or a proxy of the thrown value threw in turn.
    return { group: 'Error', message: 'the thrown value could not be read', detail: null };
  }
}

/** Registered, because the module of an isolated handler may load its own copy of this file. */
const FAILED_STEP: unique symbol = Symbol.for('longhaul.failed-step');

/** Records in an error the step whose function threw it: its failure names the step. The innermost step counts. */
export function markStep(error: unknown, step: string): void {
  try {
    if (typeof error !== 'object' || error === null || FAILED_STEP in error || !Object.isExtensible(error)) return;
    Object.defineProperty(error, FAILED_STEP, { value: step });
  } catch {
    // A proxy may refuse it: the failure then names no step.
  }
}

/** Returns the step of an error, or of one of its causes. */
function stepOf(error: unknown): string | null {
  let each = error;
  for (let depth = 0; typeof each === 'object' && each !== null && depth <= MAX_CAUSES; depth += 1) {
    const step = (each as { [FAILED_STEP]?: unknown })[FAILED_STEP];
    if (typeof step === 'string') return step;
    each = fieldOf(each, 'cause');
  }
  return null;
}

/** Returns the group of a failure that has only a message. */
export function groupOfMessage(message: string): string {
  return cut(blanked(message), MAX_GROUP_LENGTH);
}

/** Returns whether the error declares with `final: true` that another attempt would not help. */
export function isFinal(error: unknown): boolean {
  try {
    return fieldOf(error, 'final') === true;
  } catch {
    return false;
  }
}

function read(error: unknown): Failure {
  const [message, step] = [messageOf(error), stepOf(error)];
  const own = fieldOf(error, 'group');
  const where = step === null ? '' : `step ${plainName(step)}: `;
  const group = typeof own === 'string' && own !== '' ? own : `${nameOf(error)}: ${where}${blanked(message)}`;
  const detail = detailOf(error);
  return {
    group: cut(group, MAX_GROUP_LENGTH),
    message: cut(step === null ? message : `step ${step}: ${message}`, MAX_MESSAGE_LENGTH),
    detail: detail === '' ? null : cut(detail, MAX_DETAIL_LENGTH),
  };
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const message = fieldOf(error, 'message');
  if (typeof message === 'string') return message;
  if (typeof error !== 'object' || error === null) return `${String(error)} was thrown`;
  return JSON.stringify(error) ?? 'something was thrown';
}

function nameOf(error: unknown): string {
  const name = fieldOf(error, 'name');
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

/** Returns the stack down to the handler, followed by the stacks of its causes. */
function detailOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each !== undefined && stacks.length <= MAX_CAUSES; each = fieldOf(each, 'cause')) {
    const stack = fieldOf(each, 'stack');
    if (typeof stack === 'string') stacks.push(stack.replace(OWN_FRAMES, ''));
    else if (stacks.length > 0) stacks.push(messageOf(each));
  }
  return stacks.join('\ncaused by: ');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
/** Matches eight or more hex digits with at least one decimal digit: an id, and not a word such as "defaced". */
const HEX_ID = /\b(?:0x)?(?=[a-f]*\d)[0-9a-f]{8,}\b/gi;
const NUMBER = /\d+(?:\.\d+)*/g;

/**
 * Removes ids and numbers, which differ between failures of one kind. Reads only the beginning, because the group is
 * short.
 */
function blanked(message: string): string {
  const beginning = message.slice(0, MAX_GROUP_LENGTH * 4);
  return beginning.replace(UUID, '*').replace(HEX_ID, '*').replace(NUMBER, '*').replace(/\s+/g, ' ').trim();
}

/** Cuts a text without splitting a surrogate pair, which a store would not keep as given. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
