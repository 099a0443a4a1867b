/** Formats tables as wide as the terminal. If a table is too wide, columns shrink from the last to the first. Pure. */
import type { Colour, Screen } from './screen.ts';
import { cell, fit, padTo, paint, widthOf } from './screen.ts';

export interface Cell {
  readonly text: string;
  readonly colour?: Colour | null;
}

export interface Column<Row> {
  readonly title: string;
  /** The column is never truncated: a truncated id is useless. */
  readonly isWhole?: boolean;
  of(row: Row): string | Cell;
}

const GAP = 2;
const MIN_WIDTH = 6;

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], screen: Screen): string[] {
  const cells = rows.map((row) => columns.map((column) => toCell(column.of(row))));
  const widths = fitWidths(columns, cells, screen.width);
  const line = (texts: readonly Cell[]): string =>
    texts
      .flatMap((each, index) => (widths[index] === 0 ? [] : [formatCell(each, widths[index] ?? 0, screen)]))
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = columns.map(({ title }): Cell => ({ text: title, colour: 'dim' }));
  return [line(head), ...cells.map(line)];
}

function toCell(value: string | Cell): Cell {
  return typeof value === 'string' ? { text: cell(value) } : { ...value, text: cell(value.text) };
}

function formatCell({ text, colour = null }: Cell, width: number, screen: Screen): string {
  const cut = fit(text, width);
  return paint(screen, colour, cut) + padTo('', width - widthOf(cut));
}

/** Returns the width of each column; 0 for a column that is empty or has no room, which is not shown. */
function fitWidths<Row>(columns: readonly Column<Row>[], cells: readonly (readonly Cell[])[], room: number): number[] {
  const widths = columns.map(({ title }, index) => {
    const widest = Math.max(...cells.map((line) => widthOf(line[index]?.text ?? '')));
    return widest <= 0 ? 0 : Math.max(widthOf(title), widest);
  });
  for (let over = excess(widths, room); over > 0; over = excess(widths, room)) {
    const index = columnToShrink(columns, widths);
    if (index < 0) break;
    const width = widths[index] ?? 0;
    widths[index] = width > MIN_WIDTH ? Math.max(MIN_WIDTH, width - over) : 0;
  }
  return widths;
}

function excess(widths: readonly number[], room: number): number {
  const shown = widths.filter((width) => width > 0);
  return sum(shown) + (shown.length - 1) * GAP - room;
}

/**
 * Returns the index of the last column that can shrink: long texts are in the last columns. If all are at their minimum,
 * returns the last column, which is then hidden.
 */
function columnToShrink<Row>(columns: readonly Column<Row>[], widths: readonly number[]): number {
  const lastWider = (min: number): number =>
    columns.findLastIndex(({ isWhole }, index) => isWhole !== true && (widths[index] ?? 0) > min);
  return lastWider(MIN_WIDTH) >= 0 ? lastWider(MIN_WIDTH) : lastWider(0);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Formats pairs of names and values, one pair a line; pairs without a value are left out. */
export function fields(pairs: readonly (readonly [string, string | Cell | null])[], screen: Screen): string[] {
  const present = pairs.filter((pair): pair is readonly [string, string | Cell] => pair[1] !== null);
  const width = Math.max(...present.map(([name]) => widthOf(name)));
  return present.map(([name, value]) => {
    const { text, colour = null } = toCell(value);
    return `${paint(screen, 'dim', padTo(name, width))}  ${paint(screen, colour, text)}`;
  });
}
