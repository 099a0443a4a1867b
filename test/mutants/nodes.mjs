/** Seeded bugs between the nodes of one store: signatures, files and drains. */
const asking = ['src/node/cluster/other-nodes.test.ts'];
const processes = ['test/node/many-nodes.test.ts'];

const owner = ['src/node/store-owner.test.ts'];

export const nodes = [
  {
    name: 'nodes: two data directories work on one SQLite store',
    file: 'src/node/store-owner.ts',
    find: 'if (owner.holder !== null && isHolding(owner.holder))',
    replace: 'if (owner.holder !== null && owner.root === mine.root && isHolding(owner.holder))',
    suites: owner,
  },
  {
    name: 'nodes: a data directory takes a store whose attempts another one has not settled',
    file: 'src/node/store-owner.ts',
    find: 'token !== undefined && holds(job, token) ? [job.id] : []',
    replace: 'token !== undefined && holds(job, -token) ? [job.id] : []',
    suites: owner,
  },
  {
    name: 'nodes: two data directories that start at once both own the store',
    file: 'src/node/store-owner.ts',
    find: 'value: JSON.stringify(owner), ifVersion });',
    replace: 'value: JSON.stringify(owner), ...(ifVersion < 0 && { ifVersion }) });',
    suites: owner,
  },
  {
    name: 'nodes: a copy of a store belongs to the node of the original',
    file: 'src/node/store-owner.ts',
    find: 'owner.root === mine.root || owner.file !== mine.file',
    replace: 'owner.root === mine.root',
    suites: owner,
  },
  {
    name: 'nodes: an unsigned request is accepted as one of a node',
    file: 'src/node/cluster/node-credential.ts',
    find: '  if (!secret.isProven(proof, provenFields(request, id, at))) return null;\n',
    replace: '',
    suites: asking,
  },
  {
    name: 'nodes: a signature is valid for any path',
    file: 'src/node/cluster/node-credential.ts',
    find: '  method,\n  path,\n];',
    replace: '  method,\n];',
    suites: asking,
  },
  {
    name: 'nodes: an unsigned registry entry is called',
    file: 'src/node/cluster/other-nodes.ts',
    find: 'entry.id !== id && isProvenEntry(secret, entry)',
    replace: 'entry.id !== id && entry.proof !== secret.prove([])',
    suites: asking,
  },
  {
    name: 'nodes: any server at the address of a node is accepted',
    file: 'src/node/cluster/other-nodes.ts',
    find: 'if (opened.headers[PROOF_HEADER] === answer) return',
    replace: "if (opened.headers[PROOF_HEADER] !== '') return",
    suites: asking,
  },
  {
    name: 'nodes: the hash of a fetched file is not checked',
    file: 'src/node/cluster/file-fetcher.ts',
    find: 'this.#blobs.finish(uploadOf(sha256), { sha256, size })',
    replace: 'this.#blobs.finish(uploadOf(sha256), { size })',
    suites: asking,
  },
  {
    name: 'nodes: a system queue claims while its node drains',
    file: 'src/node/queues/system-queue.ts',
    find: '(isDraining ? worker.pause() : worker.resume())',
    replace: '(isDraining ? worker.resume() : worker.resume())',
    suites: ['src/node/queues/system-queue.test.ts'],
  },
  {
    name: 'nodes: a queue claims while its node drains',
    file: 'src/node/queues/queue-runner.ts',
    find: '      this.#isDraining = isDraining;\n',
    replace: '',
    suites: processes,
  },
  {
    name: 'nodes: the range of a log request is not forwarded',
    file: 'src/server/views/from-other-node.ts',
    find: 'const headers = picked(request.headers, REQUEST_HEADERS);',
    replace: 'const headers = picked({}, ASKED);',
    suites: processes,
  },
  {
    name: 'nodes: a broken store is not detected',
    file: 'src/node/doctor/store-watch.ts',
    find: "if (codeOf(error) === 'store-closed') return onClosed(error);",
    replace: '',
    suites: ['src/node/doctor/store-watch.test.ts'],
  },
];
