/** Seeded bugs of the worker: attempts when leases end, the store is unavailable, or the worker stops. */
const running = ['src/worker/loop/worker.test.ts'];
const keeping = ['src/worker/loop/worker.test.ts', 'src/worker/lease/thread-lease-renewer.test.ts'];
const stopping = ['src/worker/loop/worker-stop.test.ts'];
const outages = ['src/worker/loop/worker-outage.test.ts'];

export const worker = [
  {
    name: 'worker: a lost lease does not stop the handler',
    file: 'src/worker/attempt/attempts.ts',
    find: "    attempt.stop('lease-lost');\n",
    replace: '',
    suites: running,
  },
  {
    name: 'worker: a drain stops running attempts',
    file: 'src/worker/loop/queue-worker.ts',
    find: '    await atMost(Promise.race([empty, forced]), drainMs);\n',
    replace: '    void drainMs;\n',
    suites: stopping,
  },
  {
    name: 'worker: a drain has no time limit',
    file: 'src/worker/loop/queue-worker.ts',
    find: "    this.#attempts.stopAll('draining');\n",
    replace: '',
    suites: stopping,
  },
  {
    name: 'worker: the lease renewer sends no heartbeats',
    file: 'src/worker/lease/held-leases.ts',
    find: 'ageOf(lease, now) >= lease.beatMs ||',
    replace: 'ageOf(lease, now) >= lease.beatMs * 1_000 ||',
    suites: keeping,
  },
  {
    name: 'worker: the lease renewer does not pass on a cancel',
    file: 'src/worker/lease/held-leases.ts',
    find: 'if (answer.cancelAsked && !lease.isCancelTold) tell',
    replace: 'if (answer.cancelAsked && lease.isLost) tell',
    suites: keeping,
  },
  {
    name: 'worker: an attempt continues after its lease ended',
    file: 'src/worker/lease/held-leases.ts',
    find: "if (isExpiring && lease.expiry === 'seen') tell",
    replace: "if (isExpiring && lease.expiry === 'told' && lease.isLost) tell",
    suites: outages,
  },
  {
    name: 'worker: an unanswered claim is not repeated',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'this.#unanswered = isLost ? request : null;',
    replace: 'this.#unanswered = null;',
    suites: outages,
  },
  {
    name: 'worker: a worker runs more jobs than it has slots',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'const limit = Math.min(room(), MAX_CLAIM);',
    replace: 'const limit = room() > 0 ? MAX_CLAIM : 0;',
    suites: running,
  },
];
