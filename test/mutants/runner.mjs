/**
 * Seeded bugs of starting and adopting scripts.
 *
 * Dropped, because one shim runs one attempt (decision 22) and the mechanism was removed: "a shim gets another attempt while
 * the last one is read", "an attempt counts as started although its shim never received it" and "a process that reused
 * the pid of a shim counts as the shim".
 */
const shims = ['test/processes/runner-shim.test.ts'];
const restarts = ['test/processes/runner-restart.test.ts'];

const fullDisk = ['test/node/full-disk-scripts.test.ts'];

const memory = ['test/processes/runner-limits.test.ts'];

export const runner = [
  {
    name: 'a script beyond its memory limit continues',
    file: 'src/runner/attempt/watched-attempt.ts',
    find: '    this.terminate({ graceMs: 0 }).catch(trouble);\n',
    replace: '    void trouble;\n',
    suites: memory,
  },
  {
    name: 'memory that processes share counts for each of them',
    file: 'src/runner/attempt/memory-watch.ts',
    find: 'if (usedBytes > limit) attempt.exceedMemory(usedBytes);',
    replace: 'attempt.exceedMemory(usedBytes);',
    suites: memory,
  },
  {
    name: 'a script that the kernel killed in its group is not reported as out of memory',
    file: 'src/runner/process-tree/cgroups.ts',
    find: 'return kills === 0 ? null :',
    replace: 'return kills >= 0 ? null :',
    suites: ['src/runner/process-tree/cgroups.test.ts'],
  },
  {
    name: 'a gap in a log is forgotten while the disk is too full to record it',
    file: 'src/runner/log/log-gaps.ts',
    find: 'if (!isDiskFullError(error)) this.#open = null;',
    replace: 'if (error !== null) this.#open = null;',
    suites: ['src/runner/log/log-gaps.test.ts'],
  },
  {
    name: 'a full disk under a script is not detected',
    file: 'src/runner/attempt/attempt-watcher.ts',
    find: '    this.#disk.start();\n',
    replace: '',
    suites: fullDisk,
  },
  {
    name: 'a shim and its adopter both decide whether an attempt was started',
    file: 'src/runner/process/shim.sh',
    find: 'read_stat; set -C; echo',
    replace: 'read_stat; echo',
    suites: restarts,
  },
  {
    name: 'no space is reserved for the exit status',
    file: 'src/runner/process/shim.sh',
    find: "reserve_exit() { printf '%128s' '' >\"$folder/exit\"; }",
    replace: 'reserve_exit() { :; }',
    suites: shims,
  },
  {
    name: 'an incomplete exit file counts as complete',
    file: 'src/runner/attempt/attempt-files.ts',
    find: "text.split('\\n').slice(0, -1)",
    replace: "text.split('\\n')",
    suites: ['src/runner/attempt/attempt-files.test.ts'],
  },
  {
    name: 'the reserved exit file counts as the end time of the attempt',
    file: 'src/runner/attempt/attempt-end.ts',
    find: '(observed.exit && timeOf(files.exit))',
    replace: 'timeOf(files.exit)',
    suites: restarts,
  },
  {
    name: 'the last output of a script is cut off',
    file: 'src/runner/process/shim.sh',
    find: 'while read_state; [ "$state" != S ] && ',
    replace: 'while read_state; false && ',
    suites: shims,
  },
  {
    name: 'a process that holds fd 3 keeps the attempt from ending',
    file: 'src/runner/process/shim.sh',
    find: '[ "$state" = Z ] || kill -9 "$cat"',
    replace: ':',
    suites: shims,
  },
  {
    name: 'a shim kills a process that reused the pid of its cat',
    file: 'src/runner/process/shim.sh',
    find: '[ "$parent" = $$ ] || state=Z',
    replace: ':',
    suites: shims,
  },
  {
    name: 'a process that holds only fd 3 is not found',
    file: 'src/runner/process-tree/membership.ts',
    find: ' || place === record.reportPipe',
    replace: '',
    suites: ['test/processes/runner-terminate.test.ts'],
  },
  {
    name: 'a deadline does not stop the processes that a script left behind',
    file: 'src/runner/process/deadline.sh',
    find: "trap '' USR1",
    replace: ':',
    suites: shims,
  },
  {
    name: 'a record of another boot names processes of this one',
    file: 'src/runner/attempt/adopt.ts',
    find: 'const isHere = record.boot === bootIdentity();',
    replace: 'const isHere = bootIdentity() !== "";',
    suites: ['test/processes/runner-terminate.test.ts', ...restarts],
  },
  {
    name: 'runner: a script whose reports were lost counts as done',
    file: 'src/node/scripts/script-outcome.ts',
    find: 'status === 0 && !areReportsComplete',
    replace: 'status < 0 && !areReportsComplete',
    suites: ['test/node/full-disk-scripts.test.ts'],
  },
];
