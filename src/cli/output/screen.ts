/**
 * The terminal, if it is one: how wide it is, whether it shows colours, and how a text is coloured. Whoever prints
 * asks this; nobody else looks at the environment for it.
 */
import { plainLine } from './clean-text.ts';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

const WIDTH_OF_A_FILE = 200;
/** Of a terminal that does not say. */
const [USUAL_WIDTH, USUAL_HEIGHT] = [80, 24];

export interface Screen {
  readonly hasColours: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly height: number;
}

export function screenOf(stream: NodeJS.WriteStream = process.stdout): Screen {
  const { NO_COLOR: off, TERM: term, COLUMNS: columns } = process.env;
  const isTerminal = stream.isTTY === true;
  const asked = Number(columns);
  return {
    isTerminal,
    hasColours: isTerminal && (off === undefined || off === '') && term !== 'dumb',
    width: isTerminal ? stream.columns || USUAL_WIDTH : Number.isInteger(asked) && asked > 0 ? asked : WIDTH_OF_A_FILE,
    height: isTerminal ? stream.rows || USUAL_HEIGHT : USUAL_HEIGHT,
  };
}

export function paint(screen: Screen, colour: Colour | null, text: string): string {
  return colour === null || !screen.hasColours ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

/** Columns that a text takes: most characters one, some two, marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;
const NONE = /\p{Mark}|\u200b|\u200c|\u200d/u;

function widthOfOne(character: string): number {
  if (character >= ' ' && character <= '~') return 1;
  return NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** At most so wide, with an ellipsis when something is left out. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOfOne(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** A text in a fixed number of columns. */
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

/** What is said beside the output: on stderr, so that a pipe gets the output alone. */
export function remark(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function cell(text: unknown): string {
  return plainLine(typeof text === 'string' ? text : (JSON.stringify(text) ?? ''));
}
