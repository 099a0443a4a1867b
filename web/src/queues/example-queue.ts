/** The queue that examples name: one that exists and takes jobs of users. Pure. */
import { SYSTEM_QUEUES } from '../../../src/core/job/relay-request.ts';
import type { QueueRow } from '../../../src/wire/overview.ts';

/** The queue of `longhaul run`, whose jobs are commands. */
const COMMANDS = 'run';

/** Returns the name of the sample queue, or of the first queue of the user; null if there is none. */
export function exampleQueue(queues: readonly Pick<QueueRow, 'name'>[]): string | null {
  const names = queues.map(({ name }) => name).filter((name) => name !== COMMANDS && !SYSTEM_QUEUES.includes(name));
  return names.includes('sample') ? 'sample' : (names[0] ?? null);
}
