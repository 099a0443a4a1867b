/**
 * Reads the keys of qless: a hash and a set of dependencies for each job, recurring jobs, throttles, tracked jobs and the
 * configuration. In qless a higher priority runs first.
 */
import type { ForeignJob, ForeignKeys, ForeignSchedule, ForeignSettings, ForeignStore } from './foreign-job.ts';
import { DEFAULT_JOB, parseJson, parseSeconds, stringsIn } from './foreign-job.ts';
import type { QlessHistory } from './qless-history.ts';
import { readHistory } from './qless-history.ts';

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
const JOB_SUFFIX = /-(dependencies|dependents|history)$/;
const THROTTLE = 'ql:th:';
const THROTTLE_SUFFIX = /-(locks|pending)$/;
/** The throttle of a queue limits its concurrency: in Longhaul an option of the qless configuration. */
const QUEUE_THROTTLE = 'ql:q:';

export async function readQless(keys: ForeignKeys): Promise<ForeignStore> {
  const [jobs, unmapped]: [ForeignJob[], string[]] = [[], []];
  const known = new Set(await keys.keys(JOB));
  for (const key of known) {
    if (JOB_SUFFIX.test(key)) continue;
    const job = await readJobKeys(keys, key, known.has(`${key}-history`));
    if (typeof job === 'string') unmapped.push(job);
    else jobs.push(job);
  }
  const recurring: ForeignSchedule[] = [];
  for (const key of await keys.keys(RECURRING))
    recurring.push(readRecurring(key.slice(RECURRING.length), await keys.hash(key)));
  const stats = await keys.keys('ql:s:');
  if (stats.length > 0) unmapped.push(`${stats.length} keys of statistics: Longhaul collects its own`);
  const sorted = [...jobs].sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
  return { jobs: sorted, recurring, ...(await readSettings(keys)), unmapped };
}

/** The history of a job is a list of its own, or in older versions a field of the job. */
async function readJobKeys(keys: ForeignKeys, key: string, hasHistory: boolean): Promise<ForeignJob | string> {
  const [id, hash] = [key.slice(JOB.length), await keys.hash(key)];
  return readJob(id, hash, {
    dependsOn: await keys.set(`${key}-dependencies`),
    runAt: await scheduledAt(keys, hash['queue'] ?? '', id),
    history: readHistory(hash['history'], hasHistory ? await keys.bytes(`${key}-history`) : []),
  });
}

async function scheduledAt(keys: ForeignKeys, queue: string, id: string): Promise<number | null> {
  const found = (await keys.sorted(`ql:q:${queue}-scheduled`)).find(([member]) => member === id);
  return found === undefined ? null : Math.round(found[1] * 1_000);
}

export interface RelatedKeys {
  readonly dependsOn: readonly string[];
  readonly runAt: number | null;
  readonly history: QlessHistory;
}

/** Returns the job of a hash, or a text that says why there is none. */
export function readJob(
  id: string,
  job: Readonly<Record<string, string>>,
  { dependsOn, runAt, history }: RelatedKeys,
): ForeignJob | string {
  const state = STATES[job['state'] ?? ''];
  // A complete job has no queue any more; its history has the last one.
  const queue = job['queue'] || history.queue;
  if (state === undefined || queue === null) return `job ${id}: it has no queue or an unknown state (${job['state']})`;
  const isEnded = state === 'done' || state === 'failed';
  const failure = parseJson(job['failure']) as { group?: string; message?: string; when?: number } | undefined;
  const remaining = job['remaining'] === undefined ? null : Number(job['remaining']);
  return {
    ...DEFAULT_JOB,
    id,
    queue,
    state,
    name: job['klass'] || null,
    data: parseJson(job['data']) === undefined ? 'null' : (job['data'] ?? 'null'),
    priority: -Number(job['priority'] ?? 0) || 0,
    tags: stringsIn(parseJson(job['tags'])),
    retries: remaining === null || !Number.isInteger(remaining) || remaining < 0 ? null : remaining,
    createdAt: history.putAt ?? parseSeconds(job['time']),
    runAt,
    endedAt: isEnded ? (parseSeconds(String(failure?.when ?? '')) ?? parseSeconds(job['time'])) : null,
    attempt: isEnded ? Math.max(1, history.popped) : 0,
    failure:
      state === 'failed' ? { group: failure?.group ?? 'failed', message: failure?.message ?? '', detail: null } : null,
    dependsOn: state === 'waiting' ? dependsOn : [],
    throttles: stringsIn(parseJson(job['throttles'])).filter((name) => !name.startsWith(QUEUE_THROTTLE)),
  };
}

export function readRecurring(name: string, job: Readonly<Record<string, string>>): ForeignSchedule {
  return {
    name,
    queue: job['queue'] ?? '',
    everyMs: Math.round(Number(job['interval'] ?? 0) * 1_000),
    data: parseJson(job['data']) === undefined ? 'null' : (job['data'] ?? 'null'),
    priority: -Number(job['priority'] ?? 0) || 0,
    tags: stringsIn(parseJson(job['tags'])),
    klass: job['klass'] || null,
  };
}

/** Reads tracked jobs, throttles, and the configuration, which the qless compat layer uses unchanged. */
export async function readSettings(keys: ForeignKeys): Promise<ForeignSettings> {
  const tracked = (await keys.sorted('ql:tracked')).map(([id]) => id);
  const all = await readThrottles(keys);
  const queueThrottles = all.filter(({ name }) => name.startsWith(QUEUE_THROTTLE));
  const config = {
    ...Object.fromEntries(Object.entries(await keys.hash('ql:config')).map(([name, value]) => [name, toValue(value)])),
    ...Object.fromEntries(
      queueThrottles.map(({ name, max }) => [`${name.slice(QUEUE_THROTTLE.length)}-max-concurrency`, max]),
    ),
  };
  const isSet = Object.keys(config).length > 0;
  return {
    tracked,
    throttles: all.filter((each) => !queueThrottles.includes(each)),
    records: isSet ? [{ kind: 'qless', key: 'config', value: JSON.stringify(config) }] : [],
  };
}

/** A maximum of 0 means no maximum. */
async function readThrottles(keys: ForeignKeys): Promise<ForeignStore['throttles']> {
  const found: { name: string; max: number }[] = [];
  for (const key of await keys.keys(THROTTLE)) {
    if (THROTTLE_SUFFIX.test(key)) continue;
    const max = Number((await keys.hash(key))['maximum'] ?? 0);
    if (max > 0) found.push({ name: key.slice(THROTTLE.length), max });
  }
  return found;
}

const toValue = (value: string): string | number =>
  value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
