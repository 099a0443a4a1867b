/** Checks for query parameters, whose values are all text. */
import type { Check, Report } from '../../core/input/check.ts';
import { flag, integer, oneOf, time } from '../../core/input/check.ts';
import { described, schemaOf } from '../../core/input/json-schema.ts';

export const MAX_PAGE = 500;
const PAGE = 50;

/** An integer in decimal digits. Other text is passed on unchanged, so that the check reports it. */
export function queryInteger(min: number, max: number): Check<number> {
  const check = integer(min, max);
  return described(schemaOf(check), (value: unknown, report: Report, path: string) =>
    check(numberOf(value), report, path),
  );
}

/** The page size; a larger value is reduced to the maximum. */
export const pageLimit: Check<number> = described(
  { type: 'integer', minimum: 1, description: `page size: default ${PAGE}, at most ${MAX_PAGE}` },
  (value: unknown, report: Report, path: string) =>
    Math.min(MAX_PAGE, integer(1, Number.MAX_SAFE_INTEGER)(numberOf(value), report, path)),
);

/** An ISO time, or epoch milliseconds. */
export const queryTime: Check<number> = described(schemaOf(time), (value: unknown, report: Report, path: string) =>
  time(numberOf(value), report, path),
);

const trueOrFalse = oneOf('true', 'false');
export const queryFlag: Check<boolean> = described(
  schemaOf(flag),
  (value: unknown, report: Report, path: string) => trueOrFalse(value, report, path) === 'true',
);

export function limitOf(query: { limit?: number }): number {
  return query.limit ?? PAGE;
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,16}(\.\d+)?$/.test(value) ? Number(value) : value;
}
