/** Shared by all commands and loaded at every start, so it imports nothing heavy: the usage error and the data directory. */
import { resolve } from 'node:path';
import type { Home } from '../../node/home.ts';
import { homeAt } from '../../node/home.ts';

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {}

export function homeOf(given: string | undefined): Home {
  return homeAt(resolve(given ?? process.env['LONGHAUL_HOME'] ?? './longhaul'));
}
