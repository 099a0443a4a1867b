/** The keys of qless: a hash for each job, sets of what it waits for, and recurring jobs. Higher priorities run first there. */
import type { ForeignJob, ForeignKeys, ForeignSchedule, ForeignStore } from './foreign-job.ts';
import { jsonOf, PLAIN_JOB, secondsOf, textsIn } from './foreign-job.ts';

const STATES: Readonly<Record<string, ForeignJob['state']>> = {
  waiting: 'waiting',
  scheduled: 'waiting',
  depends: 'waiting',
  throttled: 'waiting',
  running: 'running',
  stalled: 'running',
  complete: 'done',
  failed: 'failed',
};
const JOB = 'ql:j:';
const RECURRING = 'ql:r:';
const BESIDE = /-(dependencies|dependents|history)$/;

export async function readQless(keys: ForeignKeys): Promise<ForeignStore> {
  const [jobs, unmapped]: [ForeignJob[], string[]] = [[], []];
  for (const key of await keys.keys(JOB)) {
    if (BESIDE.test(key)) continue;
    const id = key.slice(JOB.length);
    const hash = await keys.hash(key);
    const job = readJob(
      id,
      hash,
      await keys.set(`${key}-dependencies`),
      await scheduledAt(keys, hash['queue'] ?? '', id),
    );
    if (typeof job === 'string') unmapped.push(job);
    else jobs.push(job);
  }
  const recurring: ForeignSchedule[] = [];
  for (const key of await keys.keys(RECURRING))
    recurring.push(readRecurring(key.slice(RECURRING.length), await keys.hash(key)));
  const stats = await keys.keys('ql:s:');
  if (stats.length > 0) unmapped.push(`${stats.length} keys of statistics: they are counted anew`);
  return { jobs: [...jobs].sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0)), recurring, unmapped };
}

async function scheduledAt(keys: ForeignKeys, queue: string, id: string): Promise<number | null> {
  const found = (await keys.sorted(`ql:q:${queue}-scheduled`)).find(([member]) => member === id);
  return found === undefined ? null : Math.round(found[1] * 1_000);
}

function readJob(
  id: string,
  job: Readonly<Record<string, string>>,
  dependsOn: readonly string[],
  runAt: number | null,
): ForeignJob | string {
  const state = STATES[job['state'] ?? ''];
  const queue = job['queue'] || queueIn(job);
  if (state === undefined || queue === null) return `job ${id}: it has no queue, or the unknown state ${job['state']}`;
  const isEnded = state === 'done' || state === 'failed';
  const failure = jsonOf(job['failure']) as { group?: string; message?: string; when?: number } | undefined;
  const remaining = job['remaining'] === undefined ? null : Number(job['remaining']);
  return {
    ...PLAIN_JOB,
    id,
    queue,
    state,
    name: job['klass'] || null,
    data: jsonOf(job['data']) === undefined ? 'null' : (job['data'] ?? 'null'),
    priority: -Number(job['priority'] ?? 0) || 0,
    tags: textsIn(jsonOf(job['tags'])),
    retries: remaining === null || !Number.isInteger(remaining) || remaining < 0 ? null : remaining,
    createdAt: putAt(job) ?? secondsOf(job['time']),
    runAt,
    endedAt: isEnded ? (secondsOf(String(failure?.when ?? '')) ?? secondsOf(job['time'])) : null,
    attempt: isEnded ? 1 : 0,
    failure:
      state === 'failed' ? { group: failure?.group ?? 'failed', message: failure?.message ?? '', detail: null } : null,
    dependsOn: state === 'waiting' ? dependsOn : [],
  };
}

interface Stage {
  readonly q?: string;
  readonly put?: number;
}

/** A job that is complete is in no queue any more; its history knows the last. */
function queueIn(job: Readonly<Record<string, string>>): string | null {
  return (jsonOf(job['history']) as readonly Stage[] | undefined)?.at(-1)?.q ?? null;
}

function putAt(job: Readonly<Record<string, string>>): number | null {
  const first = (jsonOf(job['history']) as readonly Stage[] | undefined)?.[0]?.put;
  return first === undefined ? null : Math.round(first * 1_000);
}

function readRecurring(name: string, job: Readonly<Record<string, string>>): ForeignSchedule {
  return {
    name,
    queue: job['queue'] ?? '',
    everyMs: Math.round(Number(job['interval'] ?? 0) * 1_000),
    data: jsonOf(job['data']) === undefined ? 'null' : (job['data'] ?? 'null'),
    priority: -Number(job['priority'] ?? 0) || 0,
    tags: textsIn(jsonOf(job['tags'])),
    klass: job['klass'] || null,
  };
}
