/** The body of a port call: its argument, and the caller's time if the store accepts one. */
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
      // An absent argument is passed to its own check, which accepts or reports it.
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
