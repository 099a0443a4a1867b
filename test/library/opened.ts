/** Connections of a suite that are closed after each test. */
import { afterEach } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';

/** Returns a function that opens a connection, and closes all of them after the test. */
export function closingAfterEach(open: () => Promise<Longhaul>): () => Promise<Longhaul> {
  const opened: Longhaul[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((longhaul) => longhaul.close()));
  });
  return async () => {
    const longhaul = await open();
    opened.push(longhaul);
    return longhaul;
  };
}
