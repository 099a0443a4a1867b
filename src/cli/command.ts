/** What a command is, and what commands share: options by name, the home folder, a connection to its store. */
import { resolve } from 'node:path';
import type { ParseArgsConfig } from 'node:util';
import { parseArgs } from 'node:util';
import type { Longhaul } from '../library/index.ts';
import { connect } from '../library/index.ts';
import type { Home } from '../node/home.ts';
import { homeAt } from '../node/home.ts';

export interface Command {
  readonly usage: string;
  readonly about: string;
  readonly example: string;
  run(words: readonly string[]): Promise<number>;
}

/** The words of the command line are wrong: exit 2. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Read<Own extends Options> = ReturnType<
  typeof parseArgs<{ options: Own & { home: { type: 'string' } }; allowPositionals: true }>
>;

export function read<Own extends Options>(words: readonly string[], options: Own): Read<Own> {
  try {
    return parseArgs({ args: [...words], options: { ...options, home: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export function homeOf(given: string | undefined): Home {
  return homeAt(resolve(given ?? process.env['LONGHAUL_HOME'] ?? './longhaul'));
}

/** The store of the home itself: SQLite lets several processes write it. */
export async function withHome<T>(home: Home, use: (longhaul: Longhaul) => Promise<T>): Promise<T> {
  const longhaul = await connect(home.root);
  try {
    return await use(longhaul);
  } finally {
    await longhaul.close();
  }
}
