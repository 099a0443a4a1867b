/** Seeded bugs of attempt outcomes: settlements that get errors, the start during an outage, the journal. */
const errors = ['src/worker/outcome/settlement-errors.test.ts'];
const journal = ['src/worker/outcome/outcome-journal.test.ts', 'test/library/foreign-journal.test.ts'];
const outage = ['test/library/work-during-outage.test.ts'];

export const outcomes = [
  {
    name: 'outcomes: a store error fails a finished job',
    file: 'src/worker/outcome/settlement-batcher.ts',
    find: 'return isInputError(error) ? await this.#deliverSubstitute(only, error) : [this.#keep(only, error)];',
    replace: 'return await this.#deliverSubstitute(only, error);',
    suites: errors,
  },
  {
    name: 'outcomes: an unanswered settlement is dropped',
    file: 'src/worker/outcome/settlement-batcher.ts',
    find: "unanswered.push(this.#keep(each, new Error('the store did not answer this settlement')));",
    replace: 'each.onSettled({ settlement: each.settlement, answer: null });',
    suites: errors,
  },
  {
    name: 'outcomes: one invalid settlement blocks its batch',
    file: 'src/worker/outcome/settlement-batcher.ts',
    find: 'if (!isUnavailable(error)) return await this.#deliverApart(batch, error);',
    replace: 'if (batch.length === 1 && !isUnavailable(error)) return await this.#deliverApart(batch, error);',
    suites: errors,
  },
  {
    name: 'outcomes: missing permissions inside a Redis script count as damage',
    file: 'src/stores/redis/client/problem.ts',
    find: 'SLOT_MOVES.test(message) || LACKS_RIGHTS_INSIDE.test(message)',
    replace: 'SLOT_MOVES.test(message)',
    suites: ['src/stores/redis/client/problem.test.ts'],
  },
  {
    name: 'outcomes: a revoked token counts as a fault of the settlement',
    file: 'src/stores/http/problem.ts',
    find: "unauthenticated: 'store-unavailable',",
    replace: "unauthenticated: 'bad-input',",
    suites: ['test/server/revoked-token.test.ts'],
  },
  {
    name: 'outcomes: missing permissions count as a fault of the settlement',
    file: 'src/stores/http/problem.ts',
    find: "forbidden: 'refused',",
    replace: "forbidden: 'bad-input',",
    suites: ['test/server/revoked-token.test.ts'],
  },
  {
    name: 'outcomes: a worker does not wait for its store',
    file: 'src/library/work.ts',
    find: '    waitsForStore: true,\n',
    replace: '',
    suites: outage,
  },
  {
    name: 'outcomes: a worker waits for a store error that is permanent',
    file: 'src/worker/loop/when-available.ts',
    find: '      if (!canHeal(error)) throw error;\n',
    replace: '      if (!canHeal(error) && signal.aborted) throw error;\n',
    suites: outage,
  },
  {
    name: 'outcomes: a journal of another store is delivered',
    file: 'src/worker/outcome/outcome-journal.ts',
    find: 'if (store !== null && this.#store !== null && store !== this.#store) {',
    replace: "if (store === '') {",
    suites: journal,
  },
  {
    name: 'outcomes: a journal does not name its store',
    file: 'src/worker/outcome/outcome-journal.ts',
    find: 'isNew && this.#store !== null ? [{ store: this.#store }] : []',
    replace: '[]',
    suites: journal,
  },
  {
    name: 'outcomes: a journal that was set aside is never adopted',
    file: 'src/worker/outcome/outcome-journal.ts',
    find: ' || (this.#store !== null && rest.startsWith(setAsidePrefix(this.#store)))',
    replace: '',
    suites: journal,
  },
];
