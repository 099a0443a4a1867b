/**
 * The terminal: its size, its colours, and functions that print. No other module of the command line reads NO_COLOR, TERM
 * or COLUMNS.
 */
import { plainLine } from './clean-text.ts';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

const FILE_WIDTH = 200;
/** The size of a terminal that does not report one. */
const [DEFAULT_WIDTH, DEFAULT_HEIGHT] = [80, 24];

export interface Screen {
  readonly hasColours: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly height: number;
}

export function screenOf(stream: NodeJS.WriteStream = process.stdout): Screen {
  const { NO_COLOR: off, TERM: term, COLUMNS: columns } = process.env;
  const isTerminal = stream.isTTY === true;
  const wanted = Number(columns);
  return {
    isTerminal,
    hasColours: isTerminal && (off === undefined || off === '') && term !== 'dumb',
    width: isTerminal ? stream.columns || DEFAULT_WIDTH : Number.isInteger(wanted) && wanted > 0 ? wanted : FILE_WIDTH,
    height: isTerminal ? stream.rows || DEFAULT_HEIGHT : DEFAULT_HEIGHT,
  };
}

export function paint(screen: Screen, colour: Colour | null, text: string): string {
  return colour === null || !screen.hasColours ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

/** Returns the display width of a text: most characters take one column, some two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;
const NONE = /\p{Mark}|\u200b|\u200c|\u200d/u;

function characterWidth(character: string): number {
  if (character >= ' ' && character <= '~') return 1;
  return NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** Truncates a text to the width, with an ellipsis. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Pads a text with spaces to the width. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function bar(percent: number, width: number): string {
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a message to stderr, so that a pipe gets only the output. */
export function printNotice(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function cell(text: unknown): string {
  return plainLine(typeof text === 'string' ? text : (JSON.stringify(text) ?? ''));
}
