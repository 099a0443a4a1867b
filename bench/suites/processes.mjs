/** Rates of several worker processes of one queue, each with a concurrency of 100. */
import { exactly } from '../frame/exactly.mjs';

const concurrency = 100;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

export const processes = [1, 2, 4].map((number) => ({
  part: `processes${number}`,
  title: `process with ${number} worker ${number === 1 ? 'process' : 'processes'}, concurrency ${concurrency} each`,
  // Without plainjob: it has one worker a process, and its processes would only wait for the lock of the file.
  names: ['longhaul-redis', 'longhaul-sqlite', 'bullmq', 'bee-queue', 'pg-boss', 'graphile-worker-local'],
  once: async (place, { processes: count }) => ({ [`processes${number}`]: await rateOf(place, { number, count }) }),
}));

/** One process fills the queue; the others start together, and each job must be handled exactly once by one of them. */
async function rateOf({ run, start }, { number, count }) {
  await run('fill', { count });
  const settled = Array.from({ length: number }, () => 0);
  let onAll = () => {};
  const all = new Promise((resolve) => (onAll = resolve));
  const sides = settled.map((_, index) =>
    start('share', { index, count, concurrency }, (progress) => {
      settled[index] = progress;
      if (settled.reduce((sum, each) => sum + each, 0) >= count) onAll();
    }),
  );
  await Promise.all(sides.map(({ ready }) => ready));
  const startedAtMs = nowMs();
  for (const side of sides) side.next('go');
  const answers = Promise.all(sides.map(({ answer }) => answer));
  await Promise.race([all, answers]);
  for (const side of sides) side.next('finish');
  const ended = await answers;
  const handled = exactly(count);
  for (const { handled: list } of ended) for (const n of list) handled.saw(n);
  handled.check();
  return count / ((Math.max(...ended.map(({ lastAtMs }) => lastAtMs)) - startedAtMs) / 1_000);
}
