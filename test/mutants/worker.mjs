/** Seeded bugs of the worker: attempts when leases end, the store is unavailable, or the worker stops. */
const running = ['src/worker/loop/worker.test.ts'];
const renewing = ['src/worker/loop/worker.test.ts', 'src/worker/lease/thread-lease-renewer.test.ts'];
const stopping = ['src/worker/loop/worker-stop.test.ts'];
const outages = ['src/worker/loop/worker-outage.test.ts'];

export const worker = [
  {
    name: 'worker: a lost lease does not stop the handler',
    file: 'src/worker/lease/renewer-events.ts',
    find: "  attempt.stop('lease-lost');\n",
    replace: '',
    suites: running,
  },
  {
    name: 'worker: an outcome is settled before its checkpoint is in the store',
    file: 'src/worker/attempt/run-attempt.ts',
    find: '  if (outcome !== null) await attempt.flushHeartbeats();\n',
    replace: '',
    suites: renewing,
  },
  {
    name: 'worker: the end of the grace waits for the last heartbeat',
    file: 'src/worker/attempt/attempt.ts',
    find: "    this.#heartbeats?.end(new Error('the grace is over'));\n",
    replace: '',
    suites: stopping,
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
    find: 'ageOf(lease, now) >= lease.heartbeatMs ||',
    replace: 'ageOf(lease, now) >= lease.heartbeatMs * 1_000 ||',
    suites: renewing,
  },
  {
    name: 'worker: the lease renewer does not pass on a cancel',
    file: 'src/worker/lease/held-leases.ts',
    find: 'if (answer.cancelAsked && !lease.isCancelEmitted) emit',
    replace: 'if (answer.cancelAsked && lease.isLost) emit',
    suites: renewing,
  },
  {
    name: 'worker: an attempt continues after its lease ended',
    file: 'src/worker/lease/held-leases.ts',
    find: "if (isExpiring && lease.expiry === 'seen') emit",
    replace: "if (isExpiring && lease.expiry === 'emitted' && lease.isLost) emit",
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
