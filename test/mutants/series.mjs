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
    file: 'src/stores/redis/lua/lib/aggregates.lua',
    find: 'if number < page.number then words =',
    replace: 'if not words then words =',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'throughput: a failed job counts as done',
    file: 'src/stores/redis/lua/lib/statistics-log.lua',
    find: 'minute.done + done, minute.failed + failed',
    replace: 'minute.done + done + failed, minute.failed',
    suites: ['test/contract/redis.test.ts', 'test/model/redis.test.ts'],
  },
];
