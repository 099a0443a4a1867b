/** Reads the arguments that `put` and `recur` have in common. */
import { jsonArgument, listArgument, numberArgument, queueArgument, textArgument } from '../arguments.ts';
import { flipped, queueThrottle } from '../qless-job.ts';

export interface JobArguments {
  readonly queue: string;
  readonly klass: string;
  /** JSON, as it was given. */
  readonly data: string;
}

/** Reads the queue, the class and the data of a new job. */
export function jobArguments(given: Readonly<Record<keyof JobArguments, unknown>>, command: string): JobArguments {
  return {
    queue: queueArgument(given.queue, command),
    klass: textArgument(given.klass, command, 'klass'),
    data: jsonArgument(given.data, command, 'data'),
  };
}

/** Reads a priority. Lower runs first here; in qless higher does. */
export const priorityArgument = (value: unknown, command: string): number =>
  flipped(numberArgument(value, command, 'priority'));

/** Reads a list of tags. */
export const tagsArgument = (value: unknown, command: string): readonly string[] =>
  listArgument(value, command, 'tags');

/** Reads the names of throttles, without those of queues: they apply to every job and are not stored with one. */
export function throttlesArgument(value: unknown, command: string): readonly string[] {
  return listArgument(value, command, 'throttles').filter((id) => !id.startsWith(queueThrottle('')));
}
