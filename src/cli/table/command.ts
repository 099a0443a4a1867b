/** What all commands share and every start loads, so nothing heavy: the error for wrong words, and the home folder. */
import { resolve } from 'node:path';
import type { Home } from '../../node/home.ts';
import { homeAt } from '../../node/home.ts';

/** The words of the command line are wrong: exit 2. */
export class UsageError extends Error {}

export function homeOf(given: string | undefined): Home {
  return homeAt(resolve(given ?? process.env['LONGHAUL_HOME'] ?? './longhaul'));
}
