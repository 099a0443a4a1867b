/** Throttles: their limits, the jobs that hold their slots, and the number of waiting jobs. */
import { fields, listOf, orNull } from '../../core/input/check.ts';
import { listThrottles, putThrottle, setThrottle } from '../../core/limits/throttle-views.ts';
import { throttleLimits, throttleName } from '../../core/settings/limit-input.ts';
import { ms, whole, word } from '../../wire/port-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

const MAX_ITEMS = 100_000;
const params = { name: throttleName };
const limits = {
  max: orNull(whole),
  rate: orNull(fields({ count: whole, ms })),
  by: listOf(word, MAX_ITEMS),
  cost: orNull(word),
};
const throttleView = fields({
  name: orNull(word),
  queue: orNull(word),
  key: orNull(word),
  held: whole,
  waiting: whole,
  nextStartAt: orNull(ms),
  holders: listOf(word, MAX_ITEMS),
  ...limits,
});

export const throttleRoutes: readonly Route[] = [
  route({
    name: 'throttles.list',
    method: 'GET',
    path: '/api/throttles',
    about: 'Lists throttles that have a limit or are in use, and keys in use, with the jobs that hold their slots.',
    role: 'read',
    answer: fields({ throttles: listOf(throttleView, MAX_ITEMS) }),
    handle: async ({ context }) => json({ throttles: await listThrottles(context.store) }),
  }),
  route({
    name: 'throttles.set',
    method: 'PUT',
    path: '/api/throttles/{name}',
    about: 'Sets the number of slots and the rate of a throttle. A lower number does not affect running jobs.',
    role: 'operate',
    params,
    body: throttleLimits,
    answer: fields({ name: word, ...limits }),
    handle: async ({ params: { name }, body, context }) => {
      await putThrottle(context.store, name, body);
      const { max = null, rate = null, by = [], cost = null } = body;
      return json({ name, max, rate, by, cost });
    },
  }),
  route({
    name: 'throttles.delete',
    method: 'DELETE',
    path: '/api/throttles/{name}',
    about: 'Removes the limit of a throttle.',
    role: 'operate',
    params,
    answer: fields({ name: word, max: orNull(whole) }),
    handle: async ({ params: { name }, context }) => {
      await setThrottle(context.store, name, null);
      return json({ name, max: null });
    },
  }),
];
