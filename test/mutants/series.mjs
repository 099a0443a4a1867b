/** Bugs around throughput over time: pages that are not given up, or counted twice. */
export const series = [
  {
    name: 'throughput: a page keeps what an older one counted in its slot',
    file: 'src/core/statistics/series.ts',
    find: 'known?.page === page ? [...known.counts]',
    replace: 'known !== undefined ? [...known.counts]',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'throughput: a later page does not take the slot over',
    file: 'src/stores/redis/lua/tally.lua',
    find: 'if known < page.page then words =',
    replace: 'if not words then words =',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'throughput: what failed is counted as done',
    file: 'src/stores/redis/lua/tally.lua',
    find: 'sums[1] + done, sums[2] + heap.failures',
    replace: 'sums[1] + done + heap.failures, sums[2]',
    suites: ['test/contract/redis.test.ts', 'test/model/redis.test.ts'],
  },
];
