/**
 * What a thrown thing says as a failure: data with a group that makes failures of one kind countable.
 *
 * Anything can be thrown, so nothing here trusts what it is given: it never throws itself, and every text has a limit.
 */
import type { Failure } from './job.ts';

export const MAX_GROUP_LENGTH = 120;
export const MAX_MESSAGE_LENGTH = 4_096;
export const MAX_DETAIL_LENGTH = 16_384;
const MAX_CAUSES = 4;

/** The group is the error's own `group` if it has one, else its class and its message without what changes each time. */
export function failureOf(error: unknown): Failure {
  try {
    return read(error);
  } catch {
    // A getter or a proxy of the thrown thing threw in turn.
    return { group: 'Error', message: 'what was thrown could not be read', detail: null };
  }
}

/** The group of a failure that has only words. */
export function groupOfMessage(message: string): string {
  return cut(blanked(message), MAX_GROUP_LENGTH);
}

/** An error says by `final: true` that another attempt would not help. */
export function isFinal(error: unknown): boolean {
  try {
    return fieldOf(error, 'final') === true;
  } catch {
    return false;
  }
}

function read(error: unknown): Failure {
  const message = cut(messageOf(error), MAX_MESSAGE_LENGTH);
  const own = fieldOf(error, 'group');
  const group = typeof own === 'string' && own !== '' ? own : `${nameOf(error)}: ${blanked(message)}`;
  const detail = detailOf(error);
  return {
    group: cut(group, MAX_GROUP_LENGTH),
    message,
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

/** The stack, and those of its causes below it. */
function detailOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each !== undefined && stacks.length <= MAX_CAUSES; each = fieldOf(each, 'cause')) {
    const stack = fieldOf(each, 'stack');
    if (typeof stack === 'string') stacks.push(stack);
    else if (stacks.length > 0) stacks.push(messageOf(each));
  }
  return stacks.join('\ncaused by: ');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
/** Eight or more hex digits with a figure among them: an id, and not a word such as "defaced". */
const HEX_ID = /\b(?:0x)?(?=[a-f]*\d)[0-9a-f]{8,}\b/gi;
const NUMBER = /\d+(?:\.\d+)*/g;

/** Without what makes two failures of one kind look different. Only the beginning counts, so only that is read. */
function blanked(message: string): string {
  const beginning = message.slice(0, MAX_GROUP_LENGTH * 4);
  return beginning.replace(UUID, '*').replace(HEX_ID, '*').replace(NUMBER, '*').replace(/\s+/g, ' ').trim();
}

/** Never through the middle of a character, of which a store would keep something else. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
