/** Seeded bugs of the transactional outbox: a job of a rolled-back transaction, a second job, a lost one, a broken order. */
const killed = ['test/processes/outbox-kill.test.ts'];
const library = ['test/library/outbox-sqlite.test.ts'];

export const outbox = [
  {
    name: 'outbox: a job can be claimed before its row is marked as sent',
    file: 'src/library/outbox/outbox-job.ts',
    find: 'id }), draft: true };',
    replace: 'id }), draft: false };',
    suites: killed,
  },
  {
    name: 'outbox: a job is committed although its row is not marked as sent',
    file: 'src/library/outbox/relay-round.ts',
    find: 'const fresh = await table.markSent(holder, added);',
    replace: 'const fresh = added;',
    suites: killed,
  },
  {
    name: 'outbox: a job that has run and was pruned is added again for a row that is sent',
    file: 'src/library/outbox/commit-drafts.ts',
    find: '    else fates.done.push(row);',
    replace: '    else fates.lost.push(row);',
    suites: killed,
  },
  {
    name: 'outbox: rows of a killed relay are never taken over',
    file: 'src/library/outbox/outbox-table.ts',
    find: 'AND r.held_until <= ${this.#now} AND',
    replace: 'AND r.held_until = 0 AND',
    suites: killed,
  },
  {
    name: 'outbox: the relay reads rows inside an open transaction of the user',
    file: 'src/library/outbox/sqlite-outbox.ts',
    find: 'throw new DatabaseBusy(OPEN);',
    replace: 'return work();',
    suites: library,
  },
  {
    name: 'outbox: a later row of an order key overtakes one that is delayed',
    file: 'src/library/outbox/outbox-table.ts',
    find: 'AND (r.order_key IS NULL OR NOT EXISTS (${earlier}))',
    replace: 'AND (r.order_key IS NULL OR ${earlier.length} > 0)',
    suites: library,
  },
  {
    name: 'outbox: an invalid row blocks all others',
    file: 'src/library/outbox/relay-round.ts',
    find: 'if (!isInputError(error)) throw error;',
    replace: 'if (isInputError(error)) throw error;',
    suites: library,
  },
];
