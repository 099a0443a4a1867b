/** Seeded bugs of throughput over time: pages that are not replaced, or counted twice. */
export const series = [
  {
    name: 'throughput: a page keeps the counts of the older page in its slot',
    file: 'src/core/statistics/series.ts',
    find: 'known?.page === page ? [...known.counts]',
    replace: 'known !== undefined ? [...known.counts]',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'throughput: a later page does not replace the older one in its slot',
    file: 'src/stores/redis/lua/lib/tally.lua',
    find: 'if known < page.page then words =',
    replace: 'if not words then words =',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'throughput: a failed job counts as done',
    file: 'src/stores/redis/lua/lib/tally.lua',
    find: 'sums[1] + done, sums[2] + heap.failures',
    replace: 'sums[1] + done + heap.failures, sums[2]',
    suites: ['test/contract/redis.test.ts', 'test/model/redis.test.ts'],
  },
];
