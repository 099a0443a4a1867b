/** The body of a call of a port: its argument, and the caller's time where the store was opened for that. */
import type { Check, Report } from '../core/input/check.ts';
import { object } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { ms } from './port-checks.ts';

export interface StoreCall<Argument> {
  readonly argument: Argument;
  readonly now?: number;
}

export function storeCall<Argument>(argument: Check<Argument>): Check<StoreCall<Argument>> {
  const whole = object({ argument, now: ms });
  return described(
    { ...schemaOf(whole), required: isNeeded(argument) ? ['argument'] : [] },
    (value: unknown, report: Report, path: string) => {
      const read = whole(value, report, path) as { argument?: Argument; now?: number } | undefined;
      // One that is left out is for its own check to take or to miss.
      const given = read?.argument ?? argument(undefined, report, 'argument');
      return { argument: given, ...(read?.now !== undefined && { now: read.now }) };
    },
  );
}

function isNeeded(argument: Check<unknown>): boolean {
  let problems = 0;
  argument(undefined, () => void (problems += 1), '');
  return problems > 0;
}
