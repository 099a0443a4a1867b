/** A check that turns any JSON value into the text that a store keeps. It reports where a value is too large or too deep. */
import type { Check, Report } from '../core/input/check.ts';
import { MAX_JSON_BYTES, toJsonText } from '../core/input/json.ts';
import { described } from '../core/input/json-schema.ts';
import { LonghaulError } from '../core/ports/errors.ts';

export const jsonValue: Check<string> = described(
  { description: `any JSON value of at most ${MAX_JSON_BYTES} bytes` },
  (value: unknown, report: Report, path: string): string => {
    try {
      return toJsonText(path, value);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      for (const problem of error.problems) report(under(path, problem.path), problem.message);
      return 'null';
    }
  },
);

function under(path: string, inner: string): string {
  return inner === '' || inner.startsWith('[') ? path + inner : `${path}.${inner}`;
}
