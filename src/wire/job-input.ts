/** A job as a producer sends it over HTTP: queue, data as JSON, and the options of `add`, with durations like `5m`. */
import type { GivenOptions } from '../core/input/add-options.ts';
import { ADD_SHAPE, checkTimes } from '../core/input/add-options.ts';
import type { Check, Report } from '../core/input/check.ts';
import { fields, listOf, object } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { destination } from '../core/job/names.ts';
import { jsonValue } from './json-value.ts';

export interface JobInput extends GivenOptions {
  queue: string;
  /** As a JSON text. */
  data?: string;
}

const MAX_JOBS = 1_000;

export const jobInput: Check<JobInput> = timed(fields({ queue: destination }, { data: jsonValue, ...ADD_SHAPE }));

/** One job, or a list of them. */
export const jobInputs: Check<JobInput | readonly JobInput[]> = oneOrMany(jobInput, MAX_JOBS);

/** The changes of a duplicated job: an absent field keeps the value of the original. */
export const copyInput: Check<GivenOptions & { queue?: string; data?: string }> = timed(
  object({ queue: destination, data: jsonValue, ...ADD_SHAPE }),
);

function timed<T extends GivenOptions>(check: Check<T>): Check<T> {
  return described(schemaOf(check), (value: unknown, report: Report, path: string) => {
    const job = check(value, report, path);
    if (job !== undefined) checkTimes(job, report, path);
    return job;
  });
}

export function oneOrMany<T>(check: Check<T>, max: number): Check<T | readonly T[]> {
  const many = listOf(check, max);
  return described({ anyOf: [schemaOf(check), schemaOf(many)] }, (value: unknown, report: Report, path: string) =>
    Array.isArray(value) ? many(value, report, path) : check(value, report, path),
  );
}
