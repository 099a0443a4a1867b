/** Waits for a condition in tests, with a deadline that names the condition. */

const DEADLINE_MS = 5_000;
const POLL_MS = 5;

/** Polls `ask` and resolves to its first answer that is neither null, undefined nor false. Rejects after the deadline. */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { deadlineMs?: number } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const end = performance.now() + (options.deadlineMs ?? DEADLINE_MS);
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer as NonNullable<Exclude<T, false>>;
    if (performance.now() > end)
      throw new Error(`timed out after ${options.deadlineMs ?? DEADLINE_MS} ms waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
