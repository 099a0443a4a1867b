/**
 * The node's log: lines for people on a terminal, JSON for everybody else.
 *
 * Invariant: whatever stands in a name or a message, it makes no line of its own and moves no cursor. A log that cannot
 * be written (a full disk, a closed pipe) never stops the node.
 */
import type { Logger } from 'pino';
import { pino } from 'pino';
import type { LogFormat } from '../../node/node-settings.ts';

export type Log = Logger;

export interface LogOutput {
  readonly format: LogFormat;
  readonly isColoured: boolean;
  write(text: string): void;
}

interface Entry {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  /** A line of the start, which stands as it is. */
  readonly plain?: boolean;
}

const WARN = 40;
const ERROR = 50;
// Control characters of both sets, line separators, and those that turn the direction of writing.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function createLog({ format, isColoured, write }: LogOutput): Log {
  const writeLine = (line: string): void =>
    write(format === 'json' ? safeJson(line) : `${prettyLine(JSON.parse(line) as Entry, isColoured)}\n`);
  return pino({ base: null, messageKey: 'msg' }, { write: writeLine });
}

/** JSON escapes the first set by itself; the rest is escaped here, in strings, where alone it can stand. */
const safeJson = (line: string): string => `${line.trimEnd().replace(UNSAFE, escaped)}\n`;

export function prettyLine({ level, time, msg, plain = false }: Entry, isColoured: boolean): string {
  const words = msg.replace(UNSAFE, escaped);
  if (plain) return words;
  const clock = new Date(time).toTimeString().slice(0, 8);
  if (level < WARN) return `${clock} ${words}`;
  const name = level >= ERROR ? 'error' : 'warning';
  return `${clock} ${isColoured ? `\u001b[${level >= ERROR ? 31 : 33}m${name}\u001b[0m` : name}: ${words}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
