/**
 * Closes at the end of a test file whatever it opened, wherever it was opened. vitest accepts an `afterAll` only while
 * it collects the tests, and not within a test or in a `beforeAll`.
 */
type Close = () => unknown;

const left: Close[] = [];

export function atTheEnd(close: Close): void {
  left.push(close);
}

/** Closes the last opened first. */
export async function closeAll(): Promise<void> {
  for (const close of left.splice(0).reverse()) await close();
}
