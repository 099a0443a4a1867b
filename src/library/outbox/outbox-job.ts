/** Converts between the producer's job, its row in an outbox, and the draft that a relay adds to the store. */
import type { AddOptions } from '../../core/input/add-options.ts';
import { toNewJob } from '../../core/input/add-options.ts';
import { toJsonText } from '../../core/input/json.ts';
import { checkDestination, isAddress } from '../../core/job/relay-request.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import type { Statement } from './outbox-adapter.ts';

/** Options of a job that is added through an outbox: those of `queue.add`, as far as a row can hold them. */
export interface OutboxAddOptions extends Omit<AddOptions, 'draft' | 'onTaken' | 'maxWait'> {
  /** Rows with the same order key are relayed in the order in which they were written. Others have no order. */
  orderKey?: string;
}

interface OutboxInput {
  readonly queue: string;
  readonly data: unknown;
  readonly options: OutboxAddOptions;
  newId(): string;
}

/** Why an option cannot be kept in a row. */
const EXCLUDED: Readonly<Record<string, string>> = {
  draft: 'is not allowed: the relay commits the job',
  onTaken: 'is not allowed: a repeated relay could change another job a second time',
  maxWait: 'is not allowed: it belongs to onTaken',
  attach: 'is not allowed: files are not part of a transaction. Attach them first, and name them in the data',
};
const MAX_ORDER_KEY = 512;

/** Checks a job and returns the INSERT of its row. Throws `bad-input` before anything is written. */
export function toInsert(table: string, input: OutboxInput): { readonly id: string; readonly statement: Statement } {
  const { id = input.newId(), orderKey = null, ...options } = input.options;
  checkOrderKey(orderKey);
  const data = toJsonText('data', input.data);
  const given = toJsonText('options', options, { dates: 'text' });
  toDraft({ id, queue: input.queue, data, options: given });
  const sql = `INSERT INTO ${table} (id, queue, data, options, order_key) VALUES ($1, $2, $3, $4, $5)`;
  return { id, statement: { sql, parameters: [id, input.queue, data, given, orderKey] } };
}

function checkOrderKey(key: unknown): void {
  if (key === null || (typeof key === 'string' && key !== '' && key.length <= MAX_ORDER_KEY)) return;
  throw badInput('job options', [{ path: 'orderKey', message: `must be a text of 1 to ${MAX_ORDER_KEY} characters` }]);
}

interface RowContent {
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  readonly options: string;
}

/** Returns the draft of a row. Throws `bad-input` with every problem if the row is invalid. */
export function toDraft({ id, queue, data, options }: RowContent): NewJob {
  const name = isAddress(queue) ? checkDestination(queue) : checkQueueName(queue);
  const text = toJsonText('data', parse('data', data));
  const given = parse('options', options);
  if (typeof given === 'object' && given !== null) {
    const excluded = Object.keys(given).flatMap((path) => {
      const message = path === 'id' ? 'is not allowed: the id is a column of its own' : EXCLUDED[path];
      return message === undefined ? [] : [{ path, message }];
    });
    if (excluded.length > 0) throw badInput('job options', excluded);
  }
  const job = { queue: name, data: text, newId: () => id };
  return { ...toNewJob(job, { ...checkedObject(given), id }), draft: true };
}

/** `toNewJob` checks each option; a list or a number is no set of options at all. */
function checkedObject(given: unknown): AddOptions {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given;
  throw badInput('job options', [{ path: '', message: 'must be a JSON object' }]);
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw badInput('outbox row', [{ path, message }]);
  }
}
