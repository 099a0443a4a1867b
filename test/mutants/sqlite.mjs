/** Bugs in the SQLite store: its order, its indexes, its transactions, and what it knows by heart. */
const one = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
/** Whatever stays in the memory of one process shows only when others have the file open too. */
const three = ['test/model/sqlite-three-processes.test.ts'];

/** Files that are refused are left as they were, with nothing beside them. */
const refused = ['src/stores/sqlite/connection.test.ts'];

export const sqlite = [
  {
    name: 'sqlite: a store is created where none may be',
    file: 'src/stores/sqlite/connection.ts',
    find: 'else if (create) createIn',
    replace: 'else if (create || path !== "") createIn',
    suites: refused,
  },
  {
    name: 'sqlite: the database of another program gets a write-ahead log',
    file: 'src/stores/sqlite/connection.ts',
    find: '    refuseSchema(db, path);\n    setUp(db, durability);',
    replace: '    setUp(db, durability);\n    refuseSchema(db, path);',
    and: { find: 'if (existsSync(path)) checkHeader(path);', replace: 'if (existsSync(path)) refuseEmpty(path);' },
    suites: refused,
  },
  {
    name: 'sqlite: a newer schema is noticed in the file but not in its log',
    file: 'src/stores/sqlite/connection.ts',
    find: '    refuseSchema(db, path);\n',
    replace: '',
    suites: refused,
  },
  {
    name: 'sqlite: a result that went still takes up room',
    file: 'src/stores/sqlite/queue-counters.ts',
    find: 'before.result === after.result',
    replace: 'true',
    suites: one,
  },
  {
    name: 'sqlite: the answer before the commit',
    file: 'src/stores/sqlite/session.ts',
    find: "    this.#db.exec('COMMIT');\n    this.#clock.keep();",
    replace: '    this.#clock.keep();',
    and: {
      find: "  begin(): void {\n    this.#db.exec('BEGIN IMMEDIATE');",
      replace:
        "  begin(): void {\n    if (this.#db.isTransaction) this.#db.exec('COMMIT');\n    this.#db.exec('BEGIN IMMEDIATE');",
    },
    suites: three,
  },
  {
    name: 'sqlite: what others wrote goes unnoticed',
    file: 'src/stores/sqlite/others.ts',
    find: 'return this.#version() !== this.#seenVersion;',
    replace: 'return this.#seenVersion === undefined;',
    suites: three,
  },
  {
    name: 'sqlite: tokens of a process of its own',
    file: 'src/stores/sqlite/store-numbers.ts',
    find: 'this.#token = token;',
    replace: 'this.#token = Math.max(this.#token, Math.min(token, 1));',
    suites: three,
  },
  {
    name: 'sqlite: priority reversed',
    file: 'src/stores/sqlite/waiting-jobs.ts',
    find: 'isReady} AND queue = ? AND run_at <= ? ORDER BY priority, turn',
    replace: 'isReady} AND queue = ? AND run_at <= ? ORDER BY priority DESC, turn',
    suites: one,
  },
  {
    name: 'sqlite: front and back swapped',
    file: 'src/stores/sqlite/waiting-jobs.ts',
    find: 'return [...returned, ...ready].map(readJob);',
    replace: 'return [...ready, ...returned].map(readJob);',
    suites: one,
  },
  {
    name: 'sqlite: what is due is never marked',
    file: 'src/stores/sqlite/waiting-jobs.ts',
    find: '    this.#mark.run(queue, now);\n',
    replace: '',
    suites: one,
  },
  {
    name: 'sqlite: marks stay when the clock is set back',
    file: 'src/stores/sqlite/waiting-jobs.ts',
    find: '    if (now >= this.#numbers.readyUntil) return;\n    // What stood',
    replace: '    if (now >= 0) return;\n    // What stood',
    suites: one,
  },
  {
    name: 'sqlite: lost leases without an order',
    file: 'src/stores/sqlite/leased-jobs.ts',
    find: 'ORDER BY lease_until, seq LIMIT +?',
    replace: 'ORDER BY lease_until DESC, seq DESC LIMIT +?',
    suites: one,
  },
  {
    name: 'sqlite: a key with a period leaked',
    file: 'src/stores/sqlite/unique-keys.ts',
    find: 'DELETE FROM keys WHERE address = ? AND job = ?',
    replace: 'DELETE FROM keys WHERE address = ? AND job = ? AND until IS NULL',
    suites: one,
  },
  {
    name: 'sqlite: the counts drift',
    file: 'src/stores/sqlite/queue-counters.ts',
    find: 'isAlike && before.state === after.state && before.queue === after.queue',
    replace: 'isAlike && before.state === after.state',
    suites: one,
  },
  {
    name: 'sqlite: a repeated claim gives leases of others',
    file: 'src/stores/sqlite/worker-rows.ts',
    find: 'const first = leases[0]?.token ?? 0;',
    replace: 'const first = 0;',
    suites: one,
  },
  {
    name: 'sqlite: a group without its newest member',
    file: 'src/stores/sqlite/ended-jobs.ts',
    find: 'ORDER BY failed_at DESC, seq DESC LIMIT 1',
    replace: 'ORDER BY seq DESC LIMIT 1',
    suites: one,
  },
  {
    name: 'sqlite: whatever became of it, a settled job is said to be done',
    file: 'src/stores/sqlite/packing.ts',
    find: "return answer.ok && answer.state === 'done';",
    replace: 'return answer.ok;',
    suites: one,
  },
  {
    name: 'sqlite: slots outlive their lease',
    file: 'src/stores/sqlite/throttle-rows.ts',
    find: 'for (const address of before) if (!after.includes(address)) execute(this.#free, address, seq);',
    replace: '',
    suites: one,
  },
  {
    name: 'sqlite: a draft has the birth of a waiting job',
    file: 'src/stores/sqlite/history-text.ts',
    find: "event === 'added' && state === 'waiting' &&",
    replace: "event === 'added' &&",
    suites: one,
  },
  {
    name: 'sqlite: a call that is undone is counted',
    file: 'src/stores/sqlite/sqlite-table.ts',
    find: '      restoreStatistics();\n',
    replace: '',
    suites: ['src/stores/sqlite/statistics-rows.test.ts'],
  },
  {
    name: 'sqlite: a transaction that could not begin stays open',
    file: 'src/stores/sqlite/session.ts',
    find: '      this.#changesBefore = this.#changes();\n    } catch (error) {\n      this.rollback();',
    replace: '      this.#changesBefore = this.#changes();\n    } catch (error) {',
    and: {
      find: "    this.#rollBack();\n    this.#db.exec('BEGIN IMMEDIATE');\n    try {\n      this.#noticeOthers();",
      replace: "    this.#db.exec('BEGIN IMMEDIATE');\n    try {\n      this.#noticeOthers();",
    },
    suites: ['src/stores/sqlite/group-writer.test.ts'],
  },
  {
    name: 'sqlite: a dead disk is given time for ever',
    file: 'src/stores/sqlite/file-health.ts',
    find: 'performance.now() - fault.since >= MAX_FAILING_MS',
    replace: 'performance.now() - fault.since >= 1e9',
    suites: ['src/stores/sqlite/file-health.test.ts'],
  },
  {
    name: 'sqlite: reads go on after the file was given up',
    file: 'src/stores/sqlite/engine.ts',
    find: 'if (broken !== undefined) return this.#refuse(calls, broken);',
    replace: '',
    suites: ['src/stores/sqlite/engine.test.ts'],
  },
  {
    name: 'sqlite: a read that the disk failed is taken for damage',
    file: 'src/stores/sqlite/file-health.ts',
    find: 'if (isUnreadable(error) && !this.#isSound()) return',
    replace: 'if (isBusy(error)) return',
    suites: ['src/stores/sqlite/file-health.test.ts'],
  },
];
