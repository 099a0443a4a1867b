/** Collects the evidence at the end of a run: ledgers, jobs with their histories, counts, statistics, logs, processes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Longhaul } from '../../src/library/index.ts';
import { type LedgerEntry, readLedger } from '../faults/ledger.ts';
import type { Evidence, StateCounts, StoredJob } from './checks/evidence.ts';
import { commandOf, markedPids } from './marked-processes.ts';
import type { Stage } from './stage.ts';

const PAGE = 500;
const STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;

/** What the store and the node answer. They still run. */
export async function readStore(
  { longhaul, ledgerFolder }: Stage,
  readLog: (job: StoredJob['job'], attempt: number) => Promise<readonly string[]>,
): Promise<Omit<Evidence, 'faults' | 'processesLeft'>> {
  const entries = readLedger(ledgerFolder);
  const jobs = await allJobs(longhaul);
  const counts = new Map<string, StateCounts>();
  for (const each of await longhaul.queues())
    counts.set(each.queue, Object.fromEntries(STATES.map((state) => [state, each[state]])) as StateCounts);
  const completions = new Map<string, number>();
  for (const { queue, run, of } of await longhaul.statistics(aroundToday()))
    if (of === '') completions.set(queue, (completions.get(queue) ?? 0) + run.count);
  return { entries, jobs, counts, completions, logs: await allLogs(entries, jobs, readLog) };
}

const DAY_MS = 86_400_000;

/** Clocks may have been in the day before or after: what ended then counts there. */
function aroundToday(): { from: string; to: string } {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: dayOf(Date.now() - DAY_MS), to: dayOf(Date.now() + DAY_MS) };
}

async function allJobs({ store }: Longhaul): Promise<readonly StoredJob[]> {
  const found: StoredJob[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.jobs.list({ order: 'newest', limit: PAGE, ...(after && { after }) });
    const rows = await Promise.all(page.jobs.map(({ id }) => store.jobs.history(id)));
    page.jobs.forEach((job, place) => found.push({ job, rows: rows[place] ?? [] }));
    after = page.next;
  }
  return found;
}

/** Reads the logs of all attempts that wrote a line, of jobs that still exist. */
async function allLogs(
  entries: readonly LedgerEntry[],
  jobs: readonly StoredJob[],
  readLog: (job: StoredJob['job'], attempt: number) => Promise<readonly string[]>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const present = new Map(jobs.map(({ job }) => [job.id, job]));
  const attempts = new Map<string, readonly [StoredJob['job'], number]>();
  for (const { type, id = '', attempt = 0 } of entries) {
    const job = type === 'line' ? present.get(id) : undefined;
    if (job !== undefined) attempts.set(`${id} ${attempt}`, [job, attempt]);
  }
  const logs = new Map<string, readonly string[]>();
  for (const [name, [job, attempt]] of attempts) logs.set(name, await readLog(job, attempt));
  return logs;
}

const LEFT_MS = 10_000;

/** Returns the processes of the run that do not end within ten seconds. */
export async function processesLeft(folder: string): Promise<readonly string[]> {
  for (let waited = 0; ; waited += 100) {
    const left = markedPids(folder);
    if (left.length === 0 || waited >= LEFT_MS) return left.map((pid) => `${pid} ${commandOf(pid)}`);
    await sleep(100);
  }
}
