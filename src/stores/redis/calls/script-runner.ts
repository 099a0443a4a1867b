/** How operations run Lua scripts, and what a script answers. */
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import type { ScriptName } from './scripts.ts';

/** A text, or a list of texts; null for nothing. */
export type ScriptAnswer = string | readonly string[] | null;

export interface ScriptRunner {
  /**
   * Runs a script. `now` is the time of the call where the clock is the caller's. `queues` are those of the call, if it
   * names any: whether the fast path knows their jobs is remembered for them.
   */
  run(name: ScriptName, args: readonly string[], now?: number, queues?: readonly string[]): Promise<ScriptAnswer>;
}

/** One call of a port: encodes its argument, runs scripts and decodes their answers. It decides nothing about a job. */
export type Operation<Argument, Result> = (scripts: ScriptRunner, argument: Argument, now?: number) => Promise<Result>;

export const listOf = (answer: ScriptAnswer): readonly string[] =>
  Array.isArray(answer) ? (answer as readonly string[]) : [];

/** Returns the first argument of every script: the clock that sets the time, and its time unless it is the store's own. */
export function clockArgument(clock: ClockSource, now: number | undefined): string {
  return clock === 'store' || now === undefined ? clock : `${clock} ${now}`;
}
