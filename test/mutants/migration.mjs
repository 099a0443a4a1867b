/** Seeded bugs of store migrations, importers and uploads. */
const unit = ['src/node/migration/migrate-store.test.ts'];
const memory = ['test/contract/memory.test.ts'];

export const migration = [
  {
    name: 'migration: dependents of a running job move without it',
    file: 'src/node/migration/migrate-store.ts',
    find: "return job.state !== 'running' && !this.#left.has(job.id);",
    replace: "return job.state !== 'running';",
    suites: unit,
  },
  {
    name: 'migration: the jobs that stay are forgotten',
    file: 'src/node/migration/migrate-store.ts',
    find: 'const left = [...this.#left];',
    replace: 'const left: string[] = [];',
    suites: unit,
  },
  {
    name: 'migration: files that arrive meanwhile are not copied',
    file: 'src/node/migration/migrate-store.ts',
    find: 'const parts = await this.#compareAll();\n    await this.#options.copyFiles();',
    replace: 'const parts = await this.#compareAll();',
    suites: unit,
  },
  {
    name: 'migration: the old store is not closed when the new one opens',
    file: 'src/node/migration/migrate-store.ts',
    find: "    await this.#swap(from, { ...source, state: 'over', at: now(), left }, source);\n",
    replace: '',
    suites: unit,
  },
  {
    name: 'migration: a file that differs at the target is not copied again',
    file: 'src/node/migration/copy-files.ts',
    find: '&& (await hashOf(file.to)) === sha256) return true;',
    replace: ') return true;',
    suites: ['src/node/migration/copy-files.test.ts'],
  },
  {
    name: 'migration: tokens are given again after a migration',
    file: 'src/core/operations/migrate.ts',
    find: '  migrationRows.raise(numbers);\n',
    replace: '',
    suites: memory,
  },
  {
    name: 'migration: another migration may write to a target store',
    file: 'src/core/operations/migrate.ts',
    find: 'standing?.move === move && roles',
    replace: 'standing !== null && roles',
    suites: memory,
  },
  {
    name: 'redis: a migrated queue loses its webhooks',
    file: 'src/stores/redis/lua/operations/migration-write.lua',
    find: '  if hasWebhooks then webhookQueues.mark(key, true) end\n',
    replace: '',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'importers: a killed import leaves the store closed',
    file: 'src/importers/import-jobs.ts',
    find: 'if (await isLeftClosed(store)) await writeEnded([], options);',
    replace: '',
    suites: ['src/importers/import-jobs.test.ts'],
  },
  {
    name: 'importers: a queue that was deleted here comes back',
    file: 'src/importers/import-jobs.ts',
    find: "if (deleted.has(queue)) return 'its queue was deleted here, and stays deleted';",
    replace: '',
    suites: ['test/processes/import-rq.test.ts'],
  },
  {
    name: 'follow: a draft is committed before its entry is marked as added',
    file: 'src/importers/follow/follow.ts',
    find: "...(await this.#held.change(added.drafts, 'added')),",
    replace: '...added.drafts,',
    suites: ['src/importers/follow/follow.test.ts'],
  },
  {
    name: 'follow: jobs are added at once, and not as drafts',
    file: 'src/importers/follow/entry-jobs.ts',
    find: 'return { ...newJob(job), draft: true };',
    replace: 'return newJob(job);',
    suites: ['src/importers/follow/follow.test.ts'],
  },
  {
    name: 'follow: an entry is removed before its draft is committed',
    file: 'src/importers/follow/follow.ts',
    find: 'const isCommitted = await this.#commit(ready);',
    replace: 'await this.#held.remove(ready);\n    const isCommitted = await this.#commit(ready);',
    suites: ['src/importers/follow/follow.test.ts'],
  },
  {
    name: 'uploads: a repeated upload of a present file blocks the commit of a draft',
    file: 'src/files/attachments/attachment-uploads.ts',
    find: 'if (await this.#isAttached(id, name)) continue;',
    replace: '',
    suites: ['src/files/attachments/attachment-uploads.test.ts'],
  },
];
