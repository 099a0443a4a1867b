/** Dumps a store through its ports: jobs with their histories, counts, workers, records. */
import type { Store } from '../../src/core/ports/store.ts';

const KINDS = ['queue', 'token', 'session', 'login-code', 'audit', 'idempotency', 'attachment', 'node', 'command'];
const ALL = 500;

export async function storeDump({ jobs, records }: Store): Promise<unknown> {
  const page = await jobs.list({ order: 'newest', limit: ALL });
  const histories = await Promise.all(page.jobs.map(({ id }) => jobs.history(id)));
  const kept = await Promise.all(KINDS.map((kind) => records.list({ kind, limit: ALL })));
  return { page, histories, kept, counts: await jobs.count(), workers: await jobs.workers() };
}
