/** Bugs in how scripts are started and taken up. */
const shims = ['test/processes/runner-shim.test.ts'];
const restarts = ['test/processes/runner-restart.test.ts'];

const fullDisk = ['test/node/full-disk-scripts.test.ts'];

export const runner = [
  {
    name: 'the status of a script that ended on a full disk is lost with its shim',
    file: 'src/runner/shim.sh',
    find: `printf '%128s' '' >"$lh_folder/exit"\n`,
    replace: '',
    suites: fullDisk,
  },
  {
    name: 'a gap in a log is forgotten while there is no room for its mark',
    file: 'src/runner/log-gaps.ts',
    find: 'if (!isNoRoom(error)) this.#open = null;',
    replace: 'if (error !== null) this.#open = null;',
    suites: ['src/runner/log-gaps.test.ts'],
  },
  {
    name: 'a full disk under a script goes unseen',
    file: 'src/runner/roster.ts',
    find: '    this.#disk.start();\n',
    replace: '',
    suites: fullDisk,
  },
  {
    name: 'a shim gets another attempt although somebody looks at the last one',
    file: 'src/runner/shim-pool.ts',
    find: 'if (shim.isLetGo) this.#rest(shim);',
    replace: 'this.#rest(shim);',
    suites: shims,
  },
  {
    name: 'an order is called started that its shim may never hear',
    file: 'src/runner/shim-pool.ts',
    find: 'return shim.isRising ? this.#whenRisen(shim, spawned) : Promise.resolve(spawned);',
    replace: 'void this.#whenRisen; return Promise.resolve(spawned);',
    suites: restarts,
  },
  {
    name: 'whoever has the number of a shim is the shim',
    file: 'src/runner/shim-line.ts',
    find: ' && isAlive(shim)) return lineThrough',
    replace: ' && isAlive) return lineThrough',
    suites: shims,
  },
  {
    name: 'a shim and its adopter both decide whether an attempt was started',
    file: 'src/runner/shim.sh',
    find: 'set -C; echo "$lh_own $lh_place"',
    replace: 'echo "$lh_own $lh_place"',
    suites: restarts,
  },
  {
    name: 'a record of another boot names processes of this one',
    file: 'src/runner/adopt.ts',
    find: 'const isHere = record.boot === bootIdentity();',
    replace: 'const isHere = bootIdentity() !== "";',
    suites: ['test/processes/runner-terminate.test.ts', ...restarts],
  },
];
