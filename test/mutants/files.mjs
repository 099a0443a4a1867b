/** Seeded bugs in the files of handlers. */
export const files = [
  {
    name: 'a stale attempt replaces a file of the next attempt',
    file: 'src/files/attachments/attachments.ts',
    find: 'records.put({ ...recordOf(id, attachment), ifVersion });',
    replace: 'records.put(recordOf(id, attachment));',
    suites: ['src/files/attachments/attachment-uploads.test.ts'],
  },
  {
    name: 'a job with files runs before its files are complete',
    file: 'src/library/files/add-with-files.ts',
    find: 'store.jobs.add([{ ...job, draft: true }])',
    replace: 'store.jobs.add([job])',
    suites: ['test/library/files.test.ts'],
  },
  {
    name: 'a job whose file failed stays behind as a draft',
    file: 'src/library/files/add-with-files.ts',
    find: "if (added.outcome === 'added' && !isUnknown(error)) await discard({ store, files }, job.id);",
    replace: '',
    suites: ['test/library/files.test.ts'],
  },
  {
    name: 'a large result is returned as the mark that names its file',
    file: 'src/library/files/large-result.ts',
    find: 'if (file !== undefined) return createJobFile(reader, id, file).json();',
    replace: '',
    suites: ['test/library/files.test.ts'],
  },
  {
    name: 'two stores share a data directory, and each sweeps the files of the other',
    file: 'src/library/files/directory-place.ts',
    find: 'if (known === identity) return;',
    replace: 'if (known !== null) return;',
    suites: ['test/library/files.test.ts'],
  },
];
