/**
 * Lets V8 wait longer before it gives a function to its optimising compiler. For a process as a whole, at its start.
 *
 * A node mostly waits, and what it runs it runs a few hundred times a second: over its first thousand scripts, compiling
 * took ten times the processor time that it saved. What is really hot is still compiled, a little later.
 */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function runs until then; V8's own is 132 KiB. */
const BUDGET = 1_000_000;

export function compileLess(): void {
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}
