/** Asks for confirmation before a change that cannot be undone. */
import { createInterface } from 'node:readline/promises';
import type { Args } from '../table/args.ts';
import { printNotice } from './screen.ts';

/** Returns whether a user at a terminal can answer a question. */
export function canAsk(args: Args): boolean {
  return !args.flag('yes') && process.stdin.isTTY && process.stderr.isTTY;
}

/** Returns whether to proceed. Without a terminal, only --yes confirms. `action` is an imperative such as `delete queue x`. */
export async function confirm(args: Args, action: string): Promise<boolean> {
  if (args.flag('yes')) return true;
  if (!canAsk(args)) {
    printNotice(`longhaul: this would ${action}; confirm with --yes`);
    return false;
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`This will ${action}. Continue? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
