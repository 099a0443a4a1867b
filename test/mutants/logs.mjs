/** Seeded bugs of the logs of handlers: lines twice, lines of a stale attempt, limits that do not hold. */
export const logs = [
  {
    name: 'logs: a repeated append doubles its output',
    file: 'src/core/job/stored-log.ts',
    find: 'const fresh = bytes.subarray(before.end - offset);',
    replace: 'const fresh = bytes;',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'logs: Redis doubles the output of a repeated append',
    file: 'src/stores/redis/lua/lib/logs/stored-logs.lua',
    find: 'local fresh = added:sub(log.received - offset + 1)',
    replace: 'local fresh = added',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'logs: an attempt without a lease writes to the log of the next one',
    file: 'src/stores/redis/lua/operations/log-append.lua',
    find: "if not record.holds(job, token) then return '!lease-lost' end",
    replace: '',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'logs: the bytes of a cut log are counted as if it were whole',
    file: 'src/stores/redis/lua/lib/logs/stored-logs.lua',
    find: 'text(log.size - size)',
    replace: 'text(#added)',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'logs: a deleted job leaves its logs behind',
    file: 'src/stores/redis/lua/lib/lifecycle/removal.lua',
    find: "require('log-removal').removeOf(job.id)",
    replace: '',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'logs: output beyond the memory of a log is lost without a mark',
    file: 'src/library/log-writer.ts',
    find: 'if (this.#gap !== null && !this.#endGap()) return this.#lose(bytes.length);',
    replace: 'if (this.#gap !== null) this.#gap = null;',
    suites: ['src/library/log-writer.test.ts'],
  },
  {
    name: 'logs: a copy of a log is not cut with it',
    file: 'src/node/attempts/stored-log-copies.ts',
    find: 'if (isCut) copy.size = Math.min(copy.size, head);',
    replace: '',
    suites: ['src/node/attempts/stored-log-copies.test.ts'],
  },
];
