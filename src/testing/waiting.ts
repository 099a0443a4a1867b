/** Waiting in tests: for a condition, with a deadline and words for what did not come. */

const DEADLINE_MS = 5_000;
const STEP_MS = 5;

/** Resolves with the first answer that is neither null, undefined nor false. */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { deadlineMs?: number } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const end = performance.now() + (options.deadlineMs ?? DEADLINE_MS);
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer as NonNullable<Exclude<T, false>>;
    if (performance.now() > end) throw new Error(`waited ${options.deadlineMs ?? DEADLINE_MS} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
