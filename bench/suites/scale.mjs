/** Measurements of Longhaul alone: the cost of a long queue, of many finished jobs and of many running jobs. */
const names = ['longhaul-redis', 'longhaul-sqlite'];
/** The time limit of a process that fills a store grows with the number of its jobs. */
const leastLimitMs = 10 * 60_000;
const msPerJob = 0.5;

export const scale = [
  {
    part: 'claim',
    title: 'claim, add and settle with few and with many jobs waiting',
    names,
    isSteady: true,
    once: async ({ run }, { few, waiting: many }) => {
      const medians = await run('growthCost', { few, many, limitMs: leastLimitMs + many * msPerJob });
      return Object.fromEntries(
        Object.entries(medians).flatMap(([call, { few: short, many: long }]) => [
          [`claim.${call}.few`, short],
          [`claim.${call}.many`, long],
        ]),
      );
    },
  },
  {
    part: 'finished',
    title: 'list and count with many finished jobs',
    names,
    isSteady: true,
    once: async ({ run }, { many }) => {
      const { list, count } = await run('finishedCost', { finished: many });
      return { 'finished.list': list, 'finished.count': count };
    },
  },
  {
    part: 'heartbeats',
    title: 'heartbeats of 1,000 running jobs',
    names,
    isSteady: true,
    once: async ({ start }, { heartbeatSeconds: seconds }, { redis, isRedis }) => {
      const side = start('heartbeats', { jobs: 1_000, seconds });
      await side.ready;
      const before = await serverCpu(redis);
      const { cpuSeconds, elapsedSeconds } = await side.answer;
      const server = isRedis ? (await serverCpu(redis)) - before : 0;
      return { heartbeats: (100 * (cpuSeconds + server)) / elapsedSeconds };
    },
  },
];

async function serverCpu(redis) {
  const info = await redis.info();
  return Number(info.used_cpu_user) + Number(info.used_cpu_sys);
}
