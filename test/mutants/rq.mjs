/** Seeded bugs in RQ's forms, marker files and scripts. */
const queues = ['test/compat/rq-queues.test.ts'];
const scripts = ['test/processes/scripts-rq-api.test.ts'];

export const rq = [
  {
    name: 'rq: the marker pause wins over down',
    file: 'src/compat/rq/rq-markers.ts',
    find: "if (files.has(`${queue}.down`)) return [[queue, 'down']];",
    replace: '',
    suites: queues,
  },
  {
    name: 'rq: a marker survives a state that was set elsewhere',
    file: 'src/compat/rq/rq-markers.ts',
    find: 'else if ((await this.#options.state(queue)) !== marked) await this.#remove(queue);',
    replace: '',
    suites: queues,
  },
  {
    name: 'rq: a form creates a queue whose name has a dot',
    file: 'src/compat/rq/rq-new-queue-routes.ts',
    find: "typeof name === 'string' && !name.includes('.')",
    replace: "typeof name === 'string'",
    suites: queues,
  },
  {
    name: 'rq: a list in a form keeps only its last value',
    file: 'src/compat/rq/rq-body.ts',
    find: 'lists[name].push(value);',
    replace: 'lists[name] = [value];',
    suites: queues,
  },
  {
    name: 'rq: the cleaner ignores the age',
    file: 'src/node/queues/rq-cleaner.ts',
    find: 'now - days * DAY_MS',
    replace: 'now',
    suites: queues,
  },
  {
    name: 'rq: a script finds no ../attach',
    file: 'src/node/scripts/workdir.ts',
    find: 'if (hasInput) symlinkSync(',
    replace: 'if (false) symlinkSync(',
    suites: scripts,
  },
  {
    name: 'rq: RQ_SCRIPT is the resolved path',
    file: 'src/node/scripts/script-start.ts',
    find: 'isRqQueue(settings) ? settings.script : script',
    replace: 'script',
    suites: scripts,
  },
];
