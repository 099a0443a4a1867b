/** Rates of adding and processing, in jobs a second. */
export const rates = [
  {
    part: 'add',
    title: 'add one by one, 500 in flight',
    names: ['longhaul-redis', 'longhaul-sqlite', 'bullmq', 'bee-queue', 'plainjob-full', 'plainjob'],
    once: async ({ run }, { add }) => ({ add: (await run('add', { count: add, inFlight: 500 })).rate }),
  },
  {
    part: 'bulk',
    title: 'add in bulk, 1,000 a call',
    names: ['longhaul-redis', 'longhaul-sqlite', 'bullmq', 'bee-queue', 'plainjob-full', 'plainjob'],
    once: async ({ run }, { bulk }) => ({ bulk: (await run('addBulk', { count: bulk })).rate }),
  },
  process({ part: 'work1', concurrency: 1 }),
  process({ part: 'work100', concurrency: 100 }),
];

/** One process fills the queue, another processes it. */
function process({ part, concurrency }) {
  return {
    part,
    title: `process, concurrency ${concurrency}`,
    names: ['longhaul-redis', 'longhaul-sqlite', 'bullmq', 'bee-queue', 'plainjob-full', 'plainjob'],
    once: async ({ run }, sizes) => {
      await run('fill', { count: sizes[part] });
      return { [part]: (await run('work', { count: sizes[part], concurrency })).rate };
    },
  };
}
