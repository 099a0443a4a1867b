/** Measurements of Longhaul alone: the cost of a long queue, of many finished jobs and of many running jobs. */
const names = ['longhaul-redis', 'longhaul-sqlite'];

export const scale = [
  {
    part: 'claim',
    title: 'claim with few and with many jobs waiting',
    names,
    isSteady: true,
    once: async ({ run }, { few, many }) => {
      const short = await run('claimCost', { waiting: few });
      const long = await run('claimCost', { waiting: many - few });
      return {
        'claim.one.few': short.one,
        'claim.one.many': long.one,
        'claim.hundred.few': short.hundred,
        'claim.hundred.many': long.hundred,
      };
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
