/** Bugs in moving house, in imports, and in files on their way. */
const unit = ['src/node/moving/move-store.test.ts'];
const memory = ['test/contract/memory.test.ts'];

export const moving = [
  {
    name: 'moving: what hangs on a job that runs goes without it',
    file: 'src/node/moving/move-store.ts',
    find: "return job.state !== 'running' && !this.#left.has(job.id);",
    replace: "return job.state !== 'running';",
    suites: unit,
  },
  {
    name: 'moving: what was left behind is forgotten',
    file: 'src/node/moving/move-store.ts',
    find: 'const left = [...this.#left];',
    replace: 'const left: string[] = [];',
    suites: unit,
  },
  {
    name: 'moving: files that came meanwhile stay where they were',
    file: 'src/node/moving/move-store.ts',
    find: 'const parts = await this.#settleAll();\n    await this.#options.bringFiles();',
    replace: 'const parts = await this.#settleAll();',
    suites: unit,
  },
  {
    name: 'moving: the old store is not over when the new one opens',
    file: 'src/node/moving/move-store.ts',
    find: "    await this.#swap(from, { ...source, state: 'over', at: now(), left }, source);\n",
    replace: '',
    suites: unit,
  },
  {
    name: 'moving: a file that is not the same at the new home is left so',
    file: 'src/node/moving/move-files.ts',
    find: '&& (await hashOf(file.to)) === sha256) return true;',
    replace: ') return true;',
    suites: ['src/node/moving/move-files.test.ts'],
  },
  {
    name: 'moving: numbers that were given are given again',
    file: 'src/core/operations/move-house.ts',
    find: '  shelves.raise(numbers);\n',
    replace: '',
    suites: memory,
  },
  {
    name: 'moving: whoever asks may fill a store that is being filled',
    file: 'src/core/operations/move-house.ts',
    find: 'standing?.move === move && roles',
    replace: 'standing !== null && roles',
    suites: memory,
  },
  {
    name: 'redis: a queue that moved in has lost its hooks',
    file: 'src/stores/redis/lua/moving-write.lua',
    find: '  if isHooked then outbox.mark(key, true) end\n',
    replace: '',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'importing: one that was killed leaves the store closed for good',
    file: 'src/node/importing/import-jobs.ts',
    find: 'if (ended.length > 0 || (await isLeftClosed(store)))',
    replace: 'if (ended.length > 0)',
    suites: ['src/node/importing/import-jobs.test.ts'],
  },
  {
    name: 'uploads: one that was begun again for nothing keeps a draft from its commit',
    file: 'src/node/attachment-uploads.ts',
    find: 'if (await this.#isHere(id, name)) continue;',
    replace: '',
    suites: ['src/node/attachment-uploads.test.ts'],
  },
];
