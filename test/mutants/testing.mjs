/** Seeded bugs of the testing kit: chaos that sees no repeat, and faults that are not what they say. */
export const testing = [
  {
    name: 'testing: effects of a killed attempt count',
    file: 'src/testing/chaos/probe.ts',
    find: 'this.#gate = new Promise(() => undefined);',
    replace: 'this.#gate = Promise.resolve();',
    suites: ['test/library/chaos.test.ts'],
  },
  {
    name: 'testing: chaos does not kill between the effect of a step and its record',
    file: 'src/testing/chaos/probe.ts',
    find: 'await this.point(`after the function of step ${name}`);',
    replace: '',
    suites: ['test/library/chaos.test.ts'],
  },
  {
    name: 'testing: a frozen attempt learns at once that its lease is lost',
    file: 'src/testing/chaos/probe.ts',
    find: 'if (this.#learns !== null) await this.#learns;',
    replace: '',
    suites: ['test/library/chaos.test.ts'],
  },
  {
    name: 'testing: an idempotency key is ignored',
    file: 'src/testing/chaos/chaos-run.ts',
    find: 'if (idempotencyKey !== null && this.#keys.has(key)) return;',
    replace: '',
    suites: ['test/library/chaos.test.ts'],
  },
  {
    name: 'testing: a lost effect is no finding',
    file: 'src/testing/chaos/chaos.ts',
    find: "if (happened < expected && result.state === 'done')",
    replace: 'if (happened > expected + 9)',
    suites: ['test/library/chaos.test.ts'],
  },
  {
    name: 'testing: a call that fails with an error takes effect',
    file: 'src/testing/faulty-store.ts',
    find: "if (fault === 'error') throw",
    replace: "if (fault === 'error' && (await call(...args)) !== undefined) throw",
    suites: ['test/library/faulty-store.test.ts'],
  },
  {
    name: 'testing: a faulty store is hit by the order of all calls',
    file: 'src/testing/faulty-store.ts',
    find: 'const number = (counts.get(name) ?? 0) + 1;',
    replace: 'const number = [...counts.values()].reduce((sum, each) => sum + each, 1);',
    suites: ['test/library/faulty-store.test.ts'],
  },
  {
    name: 'testing: a damaged record of Redis is read as a job without numbers',
    file: 'src/stores/redis/encoding/job-record.ts',
    find: 'if (!Number.isFinite(number))',
    replace: 'if (text.length > 9e9)',
    suites: ['test/fuzz/parsers.test.ts'],
  },
];
