/** Parses the options of a new job. The core checks their values. */
import type { AddOptions } from '../../../core/input/add-options.ts';
import { readTraceparent } from '../../../core/job/traceparent.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';

const BOUNDS = [-1_000_000_000, 1_000_000_000] as const;

/**
 * Returns the options of every new job, and those of `more` that the command has. A job that a script adds continues the
 * trace of its attempt.
 */
export function newJobOptions(args: Args, more: readonly ('delay' | 'unique')[] = []): AddOptions {
  const texts = (['id', ...more] as const).flatMap((name) => {
    const value = args.text(name);
    return value === undefined ? [] : [[name, value]];
  });
  const traceparent = readTraceparent(process.env['TRACEPARENT']);
  return {
    ...(Object.fromEntries(texts) as AddOptions),
    ...sharedJobOptions(args),
    ...parseNeeds(args),
    ...(traceparent !== undefined && { traceparent }),
  };
}

function parseNeeds(args: Args): Pick<AddOptions, 'needs'> {
  const needs = args.list('needs').map((text) => {
    const [, resource, count] = /^([^=]+)=(\d+)$/.exec(text) ?? [];
    if (resource === undefined) throw new UsageError(`--needs must be RESOURCE=N, such as gpu=1, not ${text}`);
    return [resource, Number(count)];
  });
  return needs.length === 0 ? {} : { needs: Object.fromEntries(needs) as Record<string, number> };
}

/** Returns the options that jobs of a schedule have too. */
export function sharedJobOptions(args: Args): Pick<AddOptions, 'name' | 'tags' | 'priority' | 'retries'> {
  const [priority, retries] = [args.number('priority', BOUNDS), args.number('retries', [0, BOUNDS[1]])];
  const [name, tags] = [args.text('name'), args.list('tag')];
  return {
    ...(name !== undefined && { name }),
    ...(tags.length > 0 && { tags }),
    ...(priority !== undefined && { priority }),
    ...(retries !== undefined && { retries }),
  };
}

export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`${what} is not valid JSON: ${(error as Error).message}`);
  }
}
