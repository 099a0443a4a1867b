/**
 * The log of a node: plain lines on a terminal, JSON otherwise.
 *
 * Invariant: no content of a name or message can start a line of its own or move the cursor. A failed write of the log
 * (a full disk, a closed pipe) never stops the node.
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
  /** A startup line, printed without time and level. */
  readonly plain?: boolean;
}

const WARN = 40;
const ERROR = 50;
// Control characters (C0 and C1), line separators, and characters that change the writing direction.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function createLog({ format, isColoured, write }: LogOutput): Log {
  const writeLine = (line: string): void =>
    write(format === 'json' ? safeJson(line) : `${prettyLine(JSON.parse(line) as Entry, isColoured)}\n`);
  return pino({ base: null, messageKey: 'msg' }, { write: writeLine });
}

/** JSON itself escapes C0. The other characters are escaped here; they can occur only within strings. */
const safeJson = (line: string): string => `${line.trimEnd().replace(UNSAFE, escaped)}\n`;

export function prettyLine({ level, time, msg, plain = false }: Entry, isColoured: boolean): string {
  const text = msg.replace(UNSAFE, escaped);
  if (plain) return text;
  const clock = new Date(time).toTimeString().slice(0, 8);
  if (level < WARN) return `${clock} ${text}`;
  const name = level >= ERROR ? 'error' : 'warning';
  return `${clock} ${isColoured ? `\u001b[${level >= ERROR ? 31 : 33}m${name}\u001b[0m` : name}: ${text}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
