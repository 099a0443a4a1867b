/**
 * reqless's throttles. Named ones are Longhaul's. `ql:q:<queue>` is the limit of a queue itself: how many of its jobs may
 * run at once.
 */
import { checked } from '../../../core/input/check.ts';
import { byText } from '../../../core/input/text-order.ts';
import { namedAddress, THROTTLE_RECORD } from '../../../core/limits/throttle.ts';
import { listThrottles } from '../../../core/limits/throttle-views.ts';
import type { StoredRecord } from '../../../core/ports/records.ts';
import { slotCount, throttleName } from '../../../core/settings/limit-input.ts';
import type { Call, Command } from '../arguments.ts';
import { asText, queueArgument, raise, secondsArgument, textArgument, wholeArgument } from '../arguments.ts';
import { maxConcurrency, readConfig, useQueue, writeConfig } from '../config.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';
import { findJob, queueThrottle } from '../qless-job.ts';

export const throttleCommands: Readonly<Record<string, Command>> = {
  'throttle.set': async (call, [tid, max, expiration]) => {
    const id = throttleArgument(tid, 'throttle.set');
    const maximum = wholeArgument(max, 'throttle.set', 'max');
    const ttlMs = Math.max(0, secondsArgument(expiration ?? 0, 'throttle.set', 'expiration'));
    const queue = queueOf(id);
    if (queue !== null) await setQueueLimit(call, queue, maximum);
    else await setNamed(call, id, { maximum, ttlMs });
    return null;
  },
  'throttle.get': async (call, [tid]) => throttleData(call, throttleArgument(tid, 'throttle.get')),
  'throttle.delete': async (call, [tid]) => {
    const id = throttleArgument(tid, 'throttle.delete');
    const queue = queueOf(id);
    if (queue !== null) await setQueueLimit(call, queue, null);
    else await call.longhaul.store.records.delete(THROTTLE_RECORD, id);
    return null;
  },
  'throttle.ttl': async (call, [tid]) => (await throttleData(call, throttleArgument(tid, 'throttle.ttl'))).ttl,
  'throttle.locks': async (call, [tid]) => locksOf(call, throttleArgument(tid, 'throttle.locks')),
  'throttle.pending': async (call, [tid]) => pendingOf(call, throttleArgument(tid, 'throttle.pending')),
  'throttle.release': async (call, [tid, ...jids]) => {
    const id = throttleArgument(tid, 'throttle.release');
    for (const jid of jids)
      if ((await findJob(call, textArgument(jid, 'throttle.release', 'jid')))?.state === 'running')
        raise(`throttle.release(): Job ${asText(jid)} is running: it releases ${id} when it ends`);
    return null;
  },
  'queue.throttle.get': async (call, [queue]) =>
    throttleData(call, queueThrottle(queueArgument(queue, 'queue.throttle.get'))),
  'queue.throttle.set': async (call, [queue, max]) => {
    const maximum = wholeArgument(max, 'queue.throttle.set', 'max');
    await setQueueLimit(call, queueArgument(queue, 'queue.throttle.set'), maximum);
    return null;
  },
};

function throttleArgument(value: unknown, command: string): string {
  return checked('throttle', textArgument(value, command, 'tid'), throttleName);
}

/** The queue whose own throttle this is, or null. */
function queueOf(id: string): string | null {
  const prefix = queueThrottle('');
  return id.startsWith(prefix) ? id.slice(prefix.length) : null;
}

async function setQueueLimit(call: Call, queue: string, maximum: number | null): Promise<void> {
  await useQueue(call, queue);
  const option = maxConcurrency(queue);
  await writeConfig(call, ({ [option]: _before, ...rest }) =>
    maximum === null ? rest : { ...rest, [option]: maximum },
  );
}

/** As Longhaul keeps it, and when it ends by the callers' clocks. A maximum of 0 is no limit. */
interface NamedThrottle {
  readonly max?: number;
  readonly until?: number;
}

async function setNamed(
  call: Call,
  key: string,
  { maximum, ttlMs }: { readonly maximum: number; readonly ttlMs: number },
): Promise<void> {
  const { records } = call.longhaul.store;
  if (maximum === 0) {
    await records.delete(THROTTLE_RECORD, key);
    return;
  }
  const max = checked('maximum of a throttle', maximum, slotCount);
  const value: NamedThrottle = { max, ...(ttlMs > 0 && { until: call.nowMs + ttlMs }) };
  await records.put({ kind: THROTTLE_RECORD, key, value: JSON.stringify(value) });
}

interface ThrottleData {
  readonly id: string;
  readonly maximum: number;
  /** Seconds; -1: it does not expire. -2: there is none. */
  readonly ttl: number;
}

async function throttleData(call: Call, id: string): Promise<ThrottleData> {
  const queue = queueOf(id);
  if (queue !== null) {
    const limit = (await readConfig(call))[maxConcurrency(queue)];
    return { id, maximum: Number(limit ?? 0), ttl: limit === undefined ? -2 : -1 };
  }
  await endExpiredThrottles(call);
  const record = await call.longhaul.store.records.get(THROTTLE_RECORD, id);
  if (record === null) return { id, maximum: 0, ttl: -2 };
  const { max = 0, until } = readNamed(record);
  return { id, maximum: max, ttl: until === undefined ? -1 : Math.ceil((until - call.nowMs) / 1_000) };
}

const readNamed = ({ value }: StoredRecord): NamedThrottle => JSON.parse(value) as NamedThrottle;

const PAGE = 500;

/** Deletes the throttles whose time is over. Only calls carry the time, so it happens before a pop. */
export async function endExpiredThrottles({ longhaul, nowMs }: Call): Promise<void> {
  const { records } = longhaul.store;
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: THROTTLE_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    for (const record of page) {
      const isOver = (readNamed(record).until ?? Number.POSITIVE_INFINITY) <= nowMs;
      if (isOver) await records.delete(THROTTLE_RECORD, record.key, { ifVersion: record.version });
    }
    after = page.at(-1)?.key;
    if (page.length < PAGE) return;
  }
}

/** Returns the jobs that hold a slot, by id. */
async function locksOf(call: Call, id: string): Promise<readonly string[]> {
  const queue = queueOf(id);
  if (queue !== null) return idsOf(await jobsOf(call, { queue, state: 'running' }, EVERY)).toSorted(byText);
  const throttle = (await listThrottles(call.longhaul.store)).find(({ name }) => name === id);
  return (throttle?.holders ?? []).toSorted(byText);
}

/** Returns the jobs that this throttle holds back, in the order of their puts. */
async function pendingOf(call: Call, id: string): Promise<readonly string[]> {
  const queue = queueOf(id);
  const query = { state: 'waiting' as const, label: 'throttled' as const, ...(queue !== null && { queue }) };
  const waiting = idsOf((await jobsOf(call, query, EVERY)).toReversed());
  const reasons = await call.longhaul.store.jobs.insight({ kind: 'brakes', ids: waiting });
  return waiting.filter((_, place) => {
    const reason = reasons[place];
    return queue === null ? reason?.by === 'throttle' && reason.address === namedAddress(id) : reason?.by === 'queue';
  });
}
