/** The options of a new job as words of the command line give them; what they must be is checked by the core. */
import type { AddOptions } from '../../../core/input/add-options.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';

const BOUNDS = [-1_000_000_000, 1_000_000_000] as const;

/** Those that every new job may have; others as the command has them. */
export function newJobOptions(call: Call, more: readonly ('delay' | 'unique')[] = []): AddOptions {
  const texts = (['id', ...more] as const).flatMap((name) => {
    const value = call.text(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { ...(Object.fromEntries(texts) as AddOptions), ...sharedJobOptions(call), ...needsGiven(call) };
}

function needsGiven(call: Call): Pick<AddOptions, 'needs'> {
  const needs = call.list('needs').map((word) => {
    const [, unit, count] = /^([^=]+)=(\d+)$/.exec(word) ?? [];
    if (unit === undefined) throw new UsageError(`--needs ${word} must be a unit and how many of it, such as gpu=1`);
    return [unit, Number(count)];
  });
  return needs.length === 0 ? {} : { needs: Object.fromEntries(needs) as Record<string, number> };
}

/** Those that also the jobs of a schedule may have. */
export function sharedJobOptions(call: Call): Pick<AddOptions, 'name' | 'tags' | 'priority' | 'retries'> {
  const [priority, retries] = [call.number('priority', BOUNDS), call.number('retries', [0, BOUNDS[1]])];
  const [name, tags] = [call.text('name'), call.list('tag')];
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
    throw new UsageError(`${what} is no JSON: ${(error as Error).message}`);
  }
}
