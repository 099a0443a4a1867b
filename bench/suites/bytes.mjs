/** What a waiting job costs in Redis: how much more memory the server uses once the producer is gone. */
export const bytes = [
  {
    part: 'bytes',
    title: 'bytes a waiting job in Redis',
    names: ['longhaul-redis', 'bullmq', 'bee-queue'],
    isSteady: true,
    once: async ({ run }, { bytes: count }, { redis }) => {
      // The first look at a store makes things that do not grow with its jobs: scripts, settings, a worker's record.
      await run('fill', { count: 1 });
      const before = Number((await redis.info()).used_memory);
      await run('fill', { count });
      return { bytes: (Number((await redis.info()).used_memory) - before) / count };
    },
  },
];
