/** Bugs in the worker: what happens to attempts when leases, stores and workers come to their end. */
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
    name: 'worker: a drain stops what runs',
    file: 'src/worker/loop/queue-worker.ts',
    find: '    await atMost(Promise.race([empty, forced]), drainMs);\n',
    replace: '    void drainMs;\n',
    suites: stopping,
  },
  {
    name: 'worker: a drain waits for ever',
    file: 'src/worker/loop/queue-worker.ts',
    find: "    this.#attempts.stopAll('draining');\n",
    replace: '',
    suites: stopping,
  },
  {
    name: 'worker: the keeper does not renew',
    file: 'src/worker/lease/held-leases.ts',
    find: 'ageOf(lease, now) >= lease.beatMs ||',
    replace: 'ageOf(lease, now) >= lease.beatMs * 1_000 ||',
    suites: keeping,
  },
  {
    name: 'worker: the keeper keeps a cancel to itself',
    file: 'src/worker/lease/held-leases.ts',
    find: 'if (answer.cancelAsked && !lease.isCancelTold) tell',
    replace: 'if (answer.cancelAsked && lease.isLost) tell',
    suites: keeping,
  },
  {
    name: 'worker: an attempt outlives its lease unseen',
    file: 'src/worker/lease/held-leases.ts',
    find: "if (isExpiring && lease.expiry === 'seen') tell",
    replace: "if (isExpiring && lease.expiry === 'told' && lease.isLost) tell",
    suites: outages,
  },
  {
    name: 'worker: a claim without an answer is forgotten',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'this.#unanswered = isLost ? request : null;',
    replace: 'this.#unanswered = null;',
    suites: outages,
  },
  {
    name: 'worker: more jobs than slots',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'const limit = Math.min(room(), MAX_CLAIM);',
    replace: 'const limit = room() > 0 ? MAX_CLAIM : 0;',
    suites: running,
  },
];
