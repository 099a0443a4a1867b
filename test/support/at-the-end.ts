/**
 * What a test file has opened is closed at its end, wherever it was opened: vitest heeds an `afterAll` only while it
 * collects the tests, and not within one of them or in a `beforeAll`.
 */
type Close = () => unknown;

const left: Close[] = [];

export function atTheEnd(close: Close): void {
  left.push(close);
}

/** The last that was opened first. */
export async function closeAll(): Promise<void> {
  for (const close of left.splice(0).reverse()) await close();
}
