/**
 * Parses terminal colours into styled pieces of text, in one pass. Pure.
 *
 * Only SGR (`ESC [ … m`) has an effect. Every other sequence is dropped: links, titles and cursor movements of a
 * log have no effect. The result is for text nodes, never markup.
 */

export interface TextStyle {
  readonly foreground: Colour | null;
  readonly background: Colour | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isInverse: boolean;
  readonly isStruck: boolean;
}
/** A number for one of the sixteen themed colours, or a fixed colour `#rrggbb`. */
export type Colour = number | string;

export interface Piece {
  readonly text: string;
  readonly style: TextStyle;
}

export const PLAIN: TextStyle = {
  foreground: null,
  background: null,
  isBold: false,
  isDim: false,
  isItalic: false,
  isUnderlined: false,
  isInverse: false,
  isStruck: false,
};

/** CSI, OSC and other strings ended by BEL or ST, two-character escapes, a lone escape; and control characters but tab. */
const SEQUENCE =
  /\u001b\[([0-9;:]*)m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|\u001b|[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f\u0080-\u009f]/g;
/** A line with more style changes keeps the last style. */
const MAX_PIECES = 2_000;

/** `before` is the style at the end of the previous line; `after` the style for the next one. */
export function readLine(
  line: string,
  before: TextStyle = PLAIN,
): { readonly pieces: readonly Piece[]; readonly after: TextStyle } {
  const pieces: Piece[] = [];
  let style = before;
  let from = 0;
  const put = (text: string): void => {
    const last = pieces.at(-1);
    if (text === '') return;
    if (last !== undefined && (last.style === style || pieces.length >= MAX_PIECES))
      pieces[pieces.length - 1] = { text: last.text + text, style: last.style };
    else pieces.push({ text, style });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    put(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] !== undefined) style = changed(style, match[1]);
  }
  put(line.slice(from));
  return { pieces, after: style };
}

/** Returns what a terminal shows of a line with carriage returns: the last part. */
export function afterCarriageReturn(line: string): string {
  if (!line.includes('\r')) return line;
  const parts = line.replace(/\r+$/, '').split('\r');
  return parts.at(-1) ?? '';
}

function changed(style: TextStyle, codes: string): TextStyle {
  const numbers = codes.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)));
  let next = style;
  for (let place = 0; place < numbers.length; place++) {
    const code = numbers[place] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(place + 1));
      place += used;
      if (colour !== null) next = { ...next, [code === 38 ? 'foreground' : 'background']: colour };
    } else next = simple(next, code);
  }
  return next;
}

const SWITCHES: Readonly<Record<number, Partial<TextStyle>>> = {
  1: { isBold: true },
  2: { isDim: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isInverse: true },
  9: { isStruck: true },
  21: { isUnderlined: true },
  22: { isBold: false, isDim: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  29: { isStruck: false },
  39: { foreground: null },
  49: { background: null },
};

function simple(style: TextStyle, code: number): TextStyle {
  if (code === 0) return PLAIN;
  const change = SWITCHES[code];
  if (change !== undefined) return { ...style, ...change };
  if (code >= 30 && code <= 37) return { ...style, foreground: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, foreground: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 92 };
  return style;
}

/** Parses `5;n` (256 colours) or `2;r;g;b`. */
function extended([kind, ...rest]: readonly number[]): { colour: Colour | null; used: number } {
  if (kind === 5) return { colour: paletteColour(rest[0] ?? 0), used: 2 };
  if (kind !== 2) return { colour: null, used: kind === undefined ? 0 : 1 };
  return { colour: hex(rest.slice(0, 3)), used: 4 };
}

const LEVELS = [0, 95, 135, 175, 215, 255];

function paletteColour(number: number): Colour | null {
  if (number < 16) return number;
  if (number > 255) return null;
  if (number >= 232) return hex(Array.from({ length: 3 }, () => 8 + (number - 232) * 10));
  const cube = number - 16;
  return hex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => LEVELS[step] ?? 0));
}

function hex(parts: readonly number[]): Colour | null {
  if (parts.length < 3 || parts.some((part) => !(part >= 0 && part <= 255))) return null;
  return `#${parts.map((part) => Math.trunc(part).toString(16).padStart(2, '0')).join('')}`;
}
