/** The memory of a waiting job in Redis: the growth of the server's memory after the producer has ended. */
export const bytes = [
  {
    part: 'bytes',
    title: 'bytes a waiting job in Redis',
    names: ['longhaul-redis', 'bullmq', 'bee-queue'],
    isSteady: true,
    once: async ({ run }, { bytes: count }, { redis }) => {
      // The first use of a store creates data that does not grow with its jobs: scripts, settings, a worker's record.
      await run('fill', { count: 1 });
      const before = Number((await redis.info()).used_memory);
      await run('fill', { count });
      return { bytes: (Number((await redis.info()).used_memory) - before) / count };
    },
  },
];
