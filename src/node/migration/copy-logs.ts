/**
 * Copies the logs of handlers that a store keeps itself (Redis) to another store: SQLite writes them as files. Files of
 * data directories are copied by copy-files.ts.
 *
 * Can be repeated: a log that is in the target already is left as it is.
 */
import type { Job } from '../../core/job/job.ts';
import type { MigratedJob } from '../../core/ports/migration.ts';
import type { Store } from '../../core/ports/store.ts';
import { rowsOf } from './compare-stores.ts';

export async function copyLogs(from: Store, to: Store, isWanted: (job: Job) => boolean): Promise<void> {
  const storage = await from.jobs.insight({ kind: 'storage' });
  if (storage.every(({ logs }) => logs.count === 0)) return;
  for await (const { value } of rowsOf(from.migration, 'jobs')) {
    const { job } = value as MigratedJob;
    if (isWanted(job)) await copyLogsOf(job, from, to);
  }
}

async function copyLogsOf(
  { id, queue, attempt: last, endedAt, createdAt }: Job,
  from: Store,
  to: Store,
): Promise<void> {
  for (let attempt = 1; attempt <= last; attempt += 1) {
    const text = await wholeLog(from, id, attempt);
    if (text !== null) await to.logs.restore({ id, attempt, queue, at: endedAt ?? createdAt, text });
  }
}

async function wholeLog({ logs }: Store, id: string, attempt: number): Promise<string | null> {
  let text: string | null = null;
  for (let page = await logs.read({ id, attempt, from: 0 }); page !== null; ) {
    text = (text ?? '') + page.text;
    if (page.text === '') return text;
    page = await logs.read({ id, attempt, from: page.to });
  }
  return text;
}
