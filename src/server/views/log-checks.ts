/** Checks for what addresses say of logs: which attempt, and from which place on. */
import type { Check } from '../../core/input/check.ts';
import { described } from '../../core/input/json-schema.ts';
import type { LogPlace } from '../../node/attempts/log-position.ts';
import { parseLogPlace } from '../../node/attempts/log-position.ts';

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

/** A place in a log, as the ids of its stream name it. */
export const logPlace: Check<LogPlace> = described(
  {
    type: 'string',
    pattern: '^\\d{1,15}(\\.\\d{1,9})?$',
    description: 'a byte offset, with .N in a log that was cut N times',
  },
  (value: unknown, report, path) => {
    const place = parseLogPlace(String(value));
    if (place === null) report(path, `must be a byte offset such as 1234 or 1234.2, not ${String(value)}`);
    return place ?? { offset: 0, generation: 0 };
  },
);

/** Where a search goes on, as its answer named it. */
export const searchPlace: Check<{ line: number; offset: number; generation: number }> = described(
  { type: 'string', description: 'the `next` of the page before' },
  (value: unknown, report, path) => {
    const [, line, offset, generation] = /^(\d{1,15})-(\d{1,15})-(\d{1,9})$/.exec(String(value)) ?? [];
    if (line === undefined) report(path, 'must be the next of a page before');
    return { line: Number(line), offset: Number(offset), generation: Number(generation) };
  },
);
