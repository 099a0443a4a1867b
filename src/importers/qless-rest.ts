/** What qless keeps besides jobs: who is tracked, throttles, and its configuration, which its door here reads as it is. */
import type { ForeignKeys, ForeignStore } from './foreign-job.ts';

const THROTTLE = 'ql:th:';
const IN_USE = /-(locks|pending)$/;
/** The throttle of a queue is how many of its jobs may run at once: an option of the configuration here. */
export const THROTTLE_OF_QUEUE = 'ql:q:';

export async function readQlessRest(
  keys: ForeignKeys,
): Promise<Pick<ForeignStore, 'tracked' | 'throttles' | 'records'>> {
  const tracked = (await keys.sorted('ql:tracked')).map(([id]) => id);
  const all = await readThrottles(keys);
  const ofQueues = all.filter(({ name }) => name.startsWith(THROTTLE_OF_QUEUE));
  const config = {
    ...Object.fromEntries(Object.entries(await keys.hash('ql:config')).map(([name, value]) => [name, plain(value)])),
    ...Object.fromEntries(
      ofQueues.map(({ name, max }) => [`${name.slice(THROTTLE_OF_QUEUE.length)}-max-concurrency`, max]),
    ),
  };
  const isSet = Object.keys(config).length > 0;
  return {
    tracked,
    throttles: all.filter((each) => !ofQueues.includes(each)),
    records: isSet ? [{ kind: 'qless', key: 'config', value: JSON.stringify(config) }] : [],
  };
}

/** A maximum of 0 is none. */
async function readThrottles(keys: ForeignKeys): Promise<ForeignStore['throttles']> {
  const found: { name: string; max: number }[] = [];
  for (const key of await keys.keys(THROTTLE)) {
    if (IN_USE.test(key)) continue;
    const max = Number((await keys.hash(key))['maximum'] ?? 0);
    if (max > 0) found.push({ name: key.slice(THROTTLE.length), max });
  }
  return found;
}

const plain = (value: string): string | number =>
  value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
