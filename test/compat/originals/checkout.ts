/**
 * Checkouts of the original systems, named by environment variables. Nothing of an original is part of this repository:
 * without a checkout its tests are skipped, and the reason is printed.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Checkout {
  /** The environment variable with the path of the checkout. */
  readonly variable: string;
  readonly system: string;
  /** Files that the tests need, relative to the checkout. */
  readonly needs: readonly string[];
}

/** Returns the path of the checkout. Prints why there is none, and returns null. */
export function pathOf({ variable, system, needs }: Checkout): string | null {
  const path = process.env[variable] ?? '';
  const absent = needs.filter((file) => !existsSync(join(path, file)));
  if (path !== '' && absent.length === 0) return path;
  const reason =
    path === ''
      ? `set ${variable} to the path of a checkout of ${system}`
      : `${variable}=${path} has no ${absent.join(', ')}`;
  process.stderr.write(`skipped: tests with the original ${system}: ${reason}\n`);
  return null;
}
