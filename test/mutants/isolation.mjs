/** Seeded bugs of isolated handlers: their end, their output, and how long a process is used. */
const running = ['test/processes/isolated-handlers.test.ts'];
const ending = ['test/processes/isolated-ending.test.ts'];

export const isolation = [
  {
    name: 'isolation: a process that ignores its signal is not killed',
    file: 'src/library/isolation/isolate.ts',
    find: '    this.#channel.terminate(graceMs);\n',
    replace: '    void graceMs;\n',
    suites: ending,
  },
  {
    name: 'isolation: the processes of a killed worker are left',
    file: 'src/library/isolation/isolate.sh',
    find: '    read -r _ <&4\n',
    replace: '    read -r _ <&4 || exit\n',
    suites: ending,
  },
  {
    name: 'isolation: a process in a session of its own is left by a killed worker',
    file: 'src/library/isolation/isolate.sh',
    find: 'export LONGHAUL_ATTEMPT_MARK\n',
    replace: '',
    suites: ending,
  },
  {
    name: 'isolation: an outcome is passed on before the output of its job was read',
    file: 'src/library/isolation/process-channel.ts',
    find: 'if (outcome === null || this.#marks === 0) return;',
    replace: 'if (outcome === null) return;',
    suites: running,
  },
  {
    name: 'isolation: a process is used for more jobs than it may run',
    file: 'src/library/isolation/isolate-pool.ts',
    find: 'isolate.jobs >= maxJobs || ',
    replace: '',
    suites: running,
  },
  {
    name: 'isolation: a process with too much memory is used again',
    file: 'src/library/isolation/isolate-pool.ts',
    find: 'isolate.rssBytes > maxBytes',
    replace: 'maxBytes < 0',
    suites: running,
  },
];
