/** Checks for the log routes: attempt numbers and positions in a log. */
import type { Check } from '../../core/input/check.ts';
import { described } from '../../core/input/json-schema.ts';
import type { LogPosition } from '../../node/attempts/log-position.ts';
import { parseLogPosition } from '../../node/attempts/log-position.ts';

/** A number from 1, or `latest`. */
export const attemptNumber: Check<number | 'latest'> = described(
  { type: ['integer', 'string'], description: 'the number of an attempt, or latest' },
  (value: unknown, report, path) => {
    if (value === 'latest') return value;
    if (typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value)) return Number(value);
    report(path, `must be a number from 1, or latest, not ${String(value)}`);
    return 'latest';
  },
);

/** A position in a log, in the format of its stream ids. */
export const logPosition: Check<LogPosition> = described(
  {
    type: 'string',
    pattern: '^\\d{1,15}(\\.\\d{1,9})?$',
    description: 'a byte offset, with .N in a log that was truncated N times',
  },
  (value: unknown, report, path) => {
    const position = parseLogPosition(String(value));
    if (position === null) report(path, `must be a byte offset such as 1234 or 1234.2, not ${String(value)}`);
    return position ?? { offset: 0, generation: 0 };
  },
);

/** The position at which a search continues: the `next` of its previous page. */
export const searchCursor: Check<{ line: number; offset: number; generation: number }> = described(
  { type: 'string', description: 'the `next` of the previous page' },
  (value: unknown, report, path) => {
    const [, line, offset, generation] = /^(\d{1,15})-(\d{1,15})-(\d{1,9})$/.exec(String(value)) ?? [];
    if (line === undefined) report(path, 'must be the `next` of the previous page');
    return { line: Number(line), offset: Number(offset), generation: Number(generation) };
  },
);
