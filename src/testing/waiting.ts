/** Waits for a condition in tests, with a deadline that names the condition. */
import type { Problem } from '../core/ports/errors.ts';
import { badInput } from '../core/ports/errors.ts';

const DEADLINE_MS = 5_000;
const POLL_MS = 5;

/** Polls `ask` and resolves to its first answer that is neither null, undefined nor false. Rejects after the deadline. */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { deadlineMs?: number } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  checkArguments(what, ask, options.deadlineMs);
  const end = performance.now() + (options.deadlineMs ?? DEADLINE_MS);
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer as NonNullable<Exclude<T, false>>;
    if (performance.now() > end)
      throw new Error(`timed out after ${options.deadlineMs ?? DEADLINE_MS} ms waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function checkArguments(what: unknown, ask: unknown, deadlineMs: unknown = DEADLINE_MS): void {
  const problems: Problem[] = [];
  if (typeof what !== 'string') problems.push({ path: 'what', message: 'must be a text that names the condition' });
  if (typeof ask !== 'function') problems.push({ path: 'ask', message: 'must be a function that returns the answer' });
  if (typeof deadlineMs !== 'number' || !(deadlineMs > 0))
    problems.push({ path: 'deadlineMs', message: 'must be a positive number of milliseconds' });
  if (problems.length > 0) throw badInput('waitFor(what, ask, options)', problems);
}
