import { expect, it } from 'vitest';
import { table } from './columns.ts';
import { widthOf } from './screen.ts';

const screen = { hasColours: false, isTerminal: true, width: 30, height: 24 };
const columns = [
  { title: 'ID', isWhole: true, of: (row: string[]) => row[0] ?? '' },
  { title: 'NAME', of: (row: string[]) => row[1] ?? '' },
  { title: 'STATUS', of: (row: string[]) => row[2] ?? '' },
];

it('aligns columns under their titles, including wide characters', () => {
  expect(
    table(
      columns,
      [
        ['a', '漢字', 'x'],
        ['bb', 'name', 'y'],
      ],
      screen,
    ),
  ).toEqual(['ID  NAME  STATUS', 'a   漢字  x', 'bb  name  y']);
});

it('truncates cells that do not fit, the last column first, and never an id', () => {
  const lines = table(columns, [['a-very-long-id', 'alexandra', 'a status of many words']], screen);
  expect(lines[1]).toMatch(/^a-very-long-id {2}/);
  expect(lines[1]).toContain('…');
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
});

it('leaves out a column that is empty or has no room', () => {
  expect(table(columns, [['id', '', 'x']], screen)[0]).toBe('ID  STATUS');
  expect(table(columns, [['an-id-of-exactly-25-signs', 'name', 'x']], screen)[0]).toBe('ID');
});

it('colours cells only on a terminal, and never from the data', () => {
  const coloured = [{ title: 'ID', of: () => ({ text: '\u001b[31mx', colour: 'green' as const }) }];
  expect(table(coloured, [[]], screen)[1]).toBe('x');
  expect(table(coloured, [[]], { ...screen, hasColours: true })[1]).toBe('\u001b[32mx\u001b[0m');
});
