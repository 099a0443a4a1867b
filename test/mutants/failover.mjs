/** Seeded bugs of the Redis store when its server is lost, replaced, or rejects a command. */
const redis = (name) => `src/stores/redis/${name}`;
const lost = ['test/faults/lost-writes.test.ts'];
const answers = ['src/stores/redis/client/problem.test.ts'];

export const failover = [
  {
    name: 'failover: a promoted server gives lost tokens again',
    file: 'src/stores/redis/lua/operations/epoch.lua',
    find: 'floor = epoch * 4194304',
    replace: 'floor = 0',
    suites: lost,
  },
  {
    name: 'failover: a client forgets the epochs it has seen',
    file: redis('client/primary.ts'),
    find: 'this.#epoch = Math.max(this.#epoch, Number(epoch));',
    replace: '',
    suites: lost,
  },
  {
    name: 'failover: a change counts as confirmed with too few replicas',
    file: redis('client/connection.ts'),
    find: 'if (Number(count) >= replicas) return;',
    replace: 'if (Number(count) >= 0) return;',
    suites: lost,
  },
  {
    name: 'failover: a replica is used as the primary',
    file: redis('client/primary.ts'),
    find: "if (primary !== '') {",
    replace: "if (primary === '?') {",
    suites: answers,
  },
  {
    name: 'failover: a server that is not the primary any more is still used',
    file: redis('client/connection.ts'),
    find: 'leadsElsewhere(error) && onBroken(this)',
    replace: 'undefined',
    suites: answers,
  },
  {
    name: 'failover: a client ignores a MOVED reply',
    file: redis('client/problem.ts'),
    find: "new Set(['READONLY', 'MOVED', 'ASK',",
    replace: "new Set(['READONLY', 'ASK',",
    suites: ['src/stores/redis/slot-moves.test.ts'],
  },
  {
    name: 'failover: an aborted script counts as a lost reply',
    file: redis('client/problem.ts'),
    find: "(purpose === 'opening' ? undefined : 'data-corrupt')",
    replace: 'undefined',
    suites: answers,
  },
  {
    name: 'failover: discovery does not run while the old server answers',
    file: redis('client/primary-connection.ts'),
    find: 'if (place !== undefined && !isSame(place, current.place)) this.#replace(current);',
    replace: '',
    suites: ['src/stores/redis/sentinel.test.ts'],
  },
];
