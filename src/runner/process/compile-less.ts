/**
 * Makes V8 wait longer before it optimizes a function. Applies to the whole process; called at its start.
 *
 * A node mostly waits, and runs its code a few hundred times a second: over its first thousand scripts, compilation
 * took ten times the CPU time that it saved. Hot functions are still optimized, a little later.
 */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function executes before optimization; the default of V8 is 132 KiB. */
const BUDGET = 1_000_000;

export function compileLess(): void {
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}
