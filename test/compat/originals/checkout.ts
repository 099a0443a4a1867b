/**
 * Checkouts of the original systems, named by environment variables. Nothing of an original is part of this repository:
 * without a checkout its tests are skipped, and the reason is printed.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';

export interface Checkout {
  /** The environment variable with the path of the checkout. */
  readonly variable: string;
  readonly system: string;
  /** Files that the tests need, relative to the checkout. */
  readonly needs: readonly string[];
}

/** Runs the suite with the path of the checkout, or skips it and prints why. */
export function describeWithCheckout(checkout: Checkout, title: string, suite: (path: string) => void): void {
  const path = process.env[checkout.variable] ?? '';
  const reason = missing(checkout, path);
  if (reason !== null) process.stderr.write(`skipped: ${title}: ${reason}\n`);
  describe.skipIf(reason !== null)(title, () => suite(path));
}

function missing({ variable, system, needs }: Checkout, path: string): string | null {
  if (path === '') return `set ${variable} to the path of a checkout of ${system}`;
  const absent = needs.filter((file) => !existsSync(join(path, file)));
  return absent.length === 0 ? null : `${variable}=${path} has no ${absent.join(', ')}`;
}
