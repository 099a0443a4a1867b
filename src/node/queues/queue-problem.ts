/** A queue's problem as a record, so that readers of the store see why its jobs do not start. */
import type { Store } from '../../core/ports/store.ts';

export const PROBLEM_RECORD = 'queue-problem';

export interface QueueProblem {
  /** The label that RQ uses for this. */
  readonly label: 'script-error';
  readonly problem: string;
  readonly host: string;
  readonly at: number;
}

export async function recordProblem(
  store: Store,
  { queue, problem, host }: { queue: string; problem: string | null; host: string },
): Promise<void> {
  const key = `${queue}/${host}`;
  if (problem === null) {
    await store.records.delete(PROBLEM_RECORD, key);
    return;
  }
  const value: QueueProblem = { label: 'script-error', problem, host, at: Date.now() };
  await store.records.put({ kind: PROBLEM_RECORD, key, value: JSON.stringify(value) });
}
