/** reqless's throttles: named ones are Longhaul's, a queue's own is how many of its jobs may run at once. */
import type { ThrottleView } from '../../core/limits/throttle-views.ts';
import { listThrottles, setThrottle } from '../../core/limits/throttle-views.ts';
import type { Call, Command } from './arguments.ts';
import { numberArgument, queueArgument, raise, said, textArgument, wrong } from './arguments.ts';
import { maxConcurrency, readConfig, useQueue, writeConfig } from './config.ts';
import { EVERY, idsOf, jobsOf } from './pages.ts';
import { findJob } from './qless-job.ts';

export const throttleCommands: Readonly<Record<string, Command>> = {
  'throttle.set': async (call, [tid, max, ttl]) => {
    if (ttl !== undefined && Number(ttl) !== 0)
      wrong('throttle.set(): Arg "expiration" must be left out or 0: a throttle lasts until it is deleted');
    const maximum = numberArgument(max, 'throttle.set', 'max');
    await setThrottle(call.longhaul.store, textArgument(tid, 'throttle.set', 'tid'), maximum === 0 ? null : maximum);
    return null;
  },
  'throttle.get': async (call, [tid]) => {
    const id = textArgument(tid, 'throttle.get', 'tid');
    return { id, maximum: (await throttle(call, id))?.max ?? 0 };
  },
  'throttle.delete': async (call, [tid]) => {
    await setThrottle(call.longhaul.store, textArgument(tid, 'throttle.delete', 'tid'), null);
    return null;
  },
  'throttle.ttl': async () => -1,
  'throttle.locks': async (call, [tid]) =>
    (await throttle(call, textArgument(tid, 'throttle.locks', 'tid')))?.holders ?? [],
  'throttle.pending': async (call, [tid]) => {
    const id = textArgument(tid, 'throttle.pending', 'tid');
    const waiting = await jobsOf(call, { label: 'throttled' }, EVERY);
    return idsOf(waiting.filter(({ policy }) => policy.throttles?.includes(id)));
  },
  'throttle.release': async (call, [tid, ...jids]) => {
    const id = textArgument(tid, 'throttle.release', 'tid');
    for (const jid of jids)
      if ((await findJob(call, textArgument(jid, 'throttle.release', 'jid')))?.state === 'running')
        raise(`throttle.release(): Job ${said(jid)} runs: what it holds of ${id} is free when it ends`);
    return null;
  },
  'queue.throttle.get': async (call, [queue]) => {
    const name = queueArgument(queue, 'queue.throttle.get');
    return { id: `ql:q:${name}`, maximum: Number((await readConfig(call))[maxConcurrency(name)] ?? 0) };
  },
  'queue.throttle.set': async (call, [queue, max]) => {
    const name = await useQueue(call, queueArgument(queue, 'queue.throttle.set'));
    const maximum = numberArgument(max, 'queue.throttle.set', 'max');
    await writeConfig(call, (set) => ({ ...set, [maxConcurrency(name)]: maximum }));
    return null;
  },
};

async function throttle(call: Call, name: string): Promise<ThrottleView | undefined> {
  return (await listThrottles(call.longhaul.store)).find((each) => each.name === name);
}
