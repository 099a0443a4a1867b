/** Where and how the module of an isolated handler runs: the options of `work`, checked. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { integer, oneOf, size } from '../../core/input/check.ts';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { HandlerHost } from '../run-handler.ts';

/** Options of `work` for a handler in a module of its own. */
export interface IsolateOptions {
  /**
   * Runs the handler outside of this process, or in a thread of it. Only for a handler that is given as the URL of its
   * module. Default: `process`.
   */
  isolate?: 'process' | 'thread';
  /** With `isolate: 'process'`: replaces a process that ran so many jobs. Default: never. */
  maxJobsPerProcess?: number;
  /** With `isolate: 'process'`: replaces a process that uses more memory after a job, such as '1 GB'. Default: never. */
  maxMemory?: string | number;
}

export const isolateShape = {
  isolate: oneOf('process', 'thread'),
  maxJobsPerProcess: integer(1, 1_000_000_000),
  maxMemory: size,
};

export interface CheckedIsolateOptions {
  readonly isolate?: 'process' | 'thread';
  readonly maxJobsPerProcess?: number;
  readonly maxMemory?: number;
}

export interface IsolationPlan {
  readonly module: URL;
  readonly isolate: 'process' | 'thread';
  readonly maxJobs: number;
  readonly maxBytes: number;
  readonly host: HandlerHost<unknown> & {
    graceMsOf(queue: string): number;
  };
}

/** Checks what can be checked before the module is loaded. Throws `bad-input` with all problems. */
export function isolationPlan(module: URL, options: CheckedIsolateOptions, host: IsolationPlan['host']): IsolationPlan {
  const { isolate = 'process', maxJobsPerProcess, maxMemory } = options;
  const problems = [...moduleProblems(module), ...optionProblems(options)];
  if (problems.length > 0) throw badInput('work', problems);
  return {
    module,
    isolate,
    maxJobs: maxJobsPerProcess ?? Number.POSITIVE_INFINITY,
    maxBytes: maxMemory ?? Number.POSITIVE_INFINITY,
    host,
  };
}

/** Refuses options of isolation for a handler that is a function. */
export function refuseIsolateOptions(options: CheckedIsolateOptions): void {
  const given = Object.entries(options).flatMap(([name, value]) =>
    name in isolateShape && value !== undefined ? [name] : [],
  );
  const message = 'needs the URL of a module with the handler, not a function';
  if (given.length > 0)
    throw badInput(
      'work options',
      given.map((path) => ({ path, message })),
    );
}

function moduleProblems(module: URL): Problem[] {
  if (module.protocol !== 'file:')
    return [{ path: 'handler', message: `must be the URL of a file, not ${module.href}` }];
  if (existsSync(fileURLToPath(module))) return [];
  return [{ path: 'handler', message: `the module ${fileURLToPath(module)} does not exist` }];
}

function optionProblems({ isolate = 'process', maxJobsPerProcess, maxMemory }: CheckedIsolateOptions): Problem[] {
  if (isolate === 'process') {
    if (process.platform === 'linux') return [];
    return [{ path: 'isolate', message: `'process' needs Linux, and this is ${process.platform}: use 'thread'` }];
  }
  const message = "applies to isolate: 'process' only";
  return [
    ...(maxJobsPerProcess === undefined ? [] : [{ path: 'maxJobsPerProcess', message }]),
    ...(maxMemory === undefined ? [] : [{ path: 'maxMemory', message }]),
  ];
}
