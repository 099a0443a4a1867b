/** Seeded bugs of the HTTP server: memory of event streams, and what outlives a stop. */
const streams = ['src/server/streams/stream-buffers.test.ts', 'test/server/event-streams.test.ts'];

export const server = [
  {
    name: 'audit: a row shows the data of a job',
    file: 'src/server/auth/audit-changes.ts',
    find: "  if (name === 'data') return NOT_SHOWN;\n",
    replace: '  void NOT_SHOWN;\n',
    suites: ['test/server-guard/threats.test.ts'],
  },
  {
    name: 'http: a claim is sent before the one before it is answered',
    file: 'src/stores/http/claim-order.ts',
    find: '.then(send, send)',
    replace: '.catch(() => undefined) && send()',
    suites: ['src/stores/http/claim-order.test.ts'],
  },
  {
    name: 'server: event streams have no common memory limit',
    file: 'src/server/streams/stream-buffers.ts',
    find: 'if (this.#atMost > this.#limit) this.#count(bytes);',
    replace: '',
    suites: streams,
  },
  {
    name: 'server: the fastest reader is dropped first',
    file: 'src/server/streams/stream-buffers.ts',
    find: 'one.waitsSince - other.waitsSince',
    replace: 'other.waitsSince - one.waitsSince',
    suites: streams,
  },
  {
    name: 'server: a refused upload keeps its timer',
    file: 'src/server/http/read-body.ts',
    find: "  response.once('close', answered);\n",
    replace: '',
    suites: ['src/server/http/read-body.test.ts'],
  },
  {
    name: 'server: an idle socket client delays the stop',
    file: 'src/compat/rq/rq-socket.ts',
    find: '    for (const socket of known.connections) socket.destroy();\n',
    replace: '',
    suites: ['test/node/stop.test.ts'],
  },
  {
    name: 'server: a removed socket is not recreated',
    file: 'src/server/http/listen.ts',
    find: 'if (await exists(path)) return;',
    replace: 'if (server.listening) return;',
    suites: ['test/node/stop.test.ts'],
  },
  {
    name: 'server: tracked jobs are not read again after a gap',
    file: 'src/library/follow-tracked.ts',
    find: 'if (events.some(isGap)) isStale = true;',
    replace: '',
    suites: ['test/server/http-store.test.ts'],
  },
  {
    name: 'server: events of tracked jobs are lost when their records cannot be read',
    file: 'src/library/follow-tracked.ts',
    find: 'waiting = waiting.filter((event) => !isGap(event)).slice(-MAX_WAITING);',
    replace: 'waiting = [];',
    suites: ['src/library/follow-tracked.test.ts'],
  },
  {
    name: 'worker: an unanswered claim is repeated after the stop',
    file: 'src/worker/loop/claim-loop.ts',
    find: ' && !this.#isGivenUp',
    replace: '',
    suites: ['src/worker/loop/claim-loop.test.ts'],
  },
];
