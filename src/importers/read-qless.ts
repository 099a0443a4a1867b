/** The keys of qless: a hash for each job, sets of what it waits for, and recurring jobs. Higher priorities run first there. */
import type { ForeignJob, ForeignKeys, ForeignSchedule, ForeignStore } from './foreign-job.ts';
import { jsonOf, PLAIN_JOB, secondsOf, textsIn } from './foreign-job.ts';
import type { QlessPast } from './qless-history.ts';
import { pastOf } from './qless-history.ts';
import { readQlessRest, THROTTLE_OF_QUEUE } from './qless-rest.ts';

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
  const known = new Set(await keys.keys(JOB));
  for (const key of known) {
    if (BESIDE.test(key)) continue;
    const job = await readOne(keys, key, known.has(`${key}-history`));
    if (typeof job === 'string') unmapped.push(job);
    else jobs.push(job);
  }
  const recurring: ForeignSchedule[] = [];
  for (const key of await keys.keys(RECURRING))
    recurring.push(readRecurring(key.slice(RECURRING.length), await keys.hash(key)));
  const stats = await keys.keys('ql:s:');
  if (stats.length > 0) unmapped.push(`${stats.length} keys of statistics: they are counted anew`);
  const sorted = [...jobs].sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
  return { jobs: sorted, recurring, ...(await readQlessRest(keys)), unmapped };
}

/** The past of a job is a list of its own, or in older versions a part of the job. */
async function readOne(keys: ForeignKeys, key: string, hasPast: boolean): Promise<ForeignJob | string> {
  const [id, hash] = [key.slice(JOB.length), await keys.hash(key)];
  return readJob(id, hash, {
    dependsOn: await keys.set(`${key}-dependencies`),
    runAt: await scheduledAt(keys, hash['queue'] ?? '', id),
    past: pastOf(hash['history'], hasPast ? await keys.bytes(`${key}-history`) : []),
  });
}

async function scheduledAt(keys: ForeignKeys, queue: string, id: string): Promise<number | null> {
  const found = (await keys.sorted(`ql:q:${queue}-scheduled`)).find(([member]) => member === id);
  return found === undefined ? null : Math.round(found[1] * 1_000);
}

interface Beside {
  readonly dependsOn: readonly string[];
  readonly runAt: number | null;
  readonly past: QlessPast;
}

function readJob(
  id: string,
  job: Readonly<Record<string, string>>,
  { dependsOn, runAt, past }: Beside,
): ForeignJob | string {
  const state = STATES[job['state'] ?? ''];
  // One that is complete is in no queue any more; its past knows the last.
  const queue = job['queue'] || past.queue;
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
    createdAt: past.putAt ?? secondsOf(job['time']),
    runAt,
    endedAt: isEnded ? (secondsOf(String(failure?.when ?? '')) ?? secondsOf(job['time'])) : null,
    attempt: isEnded ? Math.max(1, past.popped) : 0,
    failure:
      state === 'failed' ? { group: failure?.group ?? 'failed', message: failure?.message ?? '', detail: null } : null,
    dependsOn: state === 'waiting' ? dependsOn : [],
    throttles: textsIn(jsonOf(job['throttles'])).filter((name) => !name.startsWith(THROTTLE_OF_QUEUE)),
  };
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
