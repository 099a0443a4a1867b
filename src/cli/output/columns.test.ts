import { expect, it } from 'vitest';
import { table } from './columns.ts';
import { widthOf } from './screen.ts';

const screen = { hasColours: false, isTerminal: true, width: 30, height: 24 };
const columns = [
  { title: 'ID', isWhole: true, of: (row: string[]) => row[0] ?? '' },
  { title: 'NAME', of: (row: string[]) => row[1] ?? '' },
  { title: 'STATUS', of: (row: string[]) => row[2] ?? '' },
];

it('Columns stand under their titles, also with wide letters', () => {
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

it('What does not fit is cut, the last column first, and an id never', () => {
  const lines = table(columns, [['a-very-long-id', 'somebody', 'a status of many words']], screen);
  expect(lines[1]).toMatch(/^a-very-long-id {2}/);
  expect(lines[1]).toContain('…');
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
});

it('A column that is empty or has no room is left out', () => {
  expect(table(columns, [['id', '', 'x']], screen)[0]).toBe('ID  STATUS');
  expect(table(columns, [['an-id-of-exactly-25-signs', 'name', 'x']], screen)[0]).toBe('ID');
});

it('Colours are for terminals that show them, and never come from the data', () => {
  const coloured = [{ title: 'ID', of: () => ({ text: '\u001b[31mx', colour: 'green' as const }) }];
  expect(table(coloured, [[]], screen)[1]).toBe('x');
  expect(table(coloured, [[]], { ...screen, hasColours: true })[1]).toBe('\u001b[32mx\u001b[0m');
});
