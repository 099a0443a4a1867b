/** Tables: aligned columns, as wide as the terminal. The last column gives way first, then the widest. Pure. */
import type { Colour, Screen } from './screen.ts';
import { cell, fit, padTo, paint, widthOf } from './screen.ts';

export interface Cell {
  readonly text: string;
  readonly colour?: Colour | null;
}

export interface Column<Row> {
  readonly title: string;
  /** Never cut: an id that is cut is no id. */
  readonly isWhole?: boolean;
  of(row: Row): string | Cell;
}

const GAP = 2;
const NARROWEST = 6;

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], screen: Screen): string[] {
  const cells = rows.map((row) => columns.map((column) => toCell(column.of(row))));
  const widths = fitWidths(columns, cells, screen.width);
  const line = (texts: readonly Cell[]): string =>
    texts
      .flatMap((each, place) => (widths[place] === 0 ? [] : [inWidth(each, widths[place] ?? 0, screen)]))
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = columns.map(({ title }): Cell => ({ text: title, colour: 'dim' }));
  return [line(head), ...cells.map(line)];
}

function toCell(value: string | Cell): Cell {
  return typeof value === 'string' ? { text: cell(value) } : { ...value, text: cell(value.text) };
}

function inWidth({ text, colour = null }: Cell, width: number, screen: Screen): string {
  const cut = fit(text, width);
  return paint(screen, colour, cut) + padTo('', width - widthOf(cut));
}

/** 0 for a column that is not shown: because it is empty, or because there is no room for it. */
function fitWidths<Row>(columns: readonly Column<Row>[], cells: readonly (readonly Cell[])[], room: number): number[] {
  const widths = columns.map(({ title }, place) => {
    const widest = Math.max(...cells.map((line) => widthOf(line[place]?.text ?? '')));
    return widest <= 0 ? 0 : Math.max(widthOf(title), widest);
  });
  for (let over = excess(widths, room); over > 0; over = excess(widths, room)) {
    const place = nextToGiveWay(columns, widths);
    if (place < 0) break;
    const width = widths[place] ?? 0;
    widths[place] = width > NARROWEST ? Math.max(NARROWEST, width - over) : 0;
  }
  return widths;
}

function excess(widths: readonly number[], room: number): number {
  const shown = widths.filter((width) => width > 0);
  return sum(shown) + (shown.length - 1) * GAP - room;
}

/** The last one that can, since that is where the long texts stand; when all are narrow, the last goes altogether. */
function nextToGiveWay<Row>(columns: readonly Column<Row>[], widths: readonly number[]): number {
  const last = (least: number): number =>
    columns.findLastIndex(({ isWhole }, place) => isWhole !== true && (widths[place] ?? 0) > least);
  return last(NARROWEST) >= 0 ? last(NARROWEST) : last(0);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Names and values under one another; lines of a value that go on are indented. */
export function fields(pairs: readonly (readonly [string, string | Cell | null])[], screen: Screen): string[] {
  const there = pairs.filter((pair): pair is readonly [string, string | Cell] => pair[1] !== null);
  const width = Math.max(...there.map(([name]) => widthOf(name)));
  return there.map(([name, value]) => {
    const { text, colour = null } = toCell(value);
    return `${paint(screen, 'dim', padTo(name, width))}  ${paint(screen, colour, text)}`;
  });
}
