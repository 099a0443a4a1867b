/** Seeded bugs of the worker: attempts when leases end, the store is unavailable, or the worker stops. */
const running = ['src/worker/loop/worker.test.ts'];
const renewing = ['src/worker/loop/worker.test.ts', 'src/worker/lease/thread-lease-renewer.test.ts'];
const stopping = ['src/worker/loop/worker-stop.test.ts'];
const claiming = ['src/worker/loop/claim-loop.test.ts'];
const outages = ['src/worker/loop/worker-outage.test.ts'];
const abandoning = ['src/worker/attempt/abandoned-attempts.test.ts'];

export const worker = [
  {
    name: 'worker: a handler that ignores a cancel is waited for without limit',
    file: 'src/worker/attempt/attempt.ts',
    find: "(reason === 'cancel' && this.#host.enforcesStop)",
    replace: "reason === 'cancel'",
    suites: abandoning,
  },
  {
    name: 'worker: a cancelled script is abandoned before its processes are gone',
    file: 'src/worker/attempt/attempt.ts',
    find: " || (reason === 'cancel' && this.#host.enforcesStop)",
    replace: '',
    suites: abandoning,
  },
  {
    name: 'worker: the slot of an abandoned handler is free while its code runs',
    file: 'src/worker/loop/queue-worker.ts',
    find: 'this.#concurrency - this.#attempts.size - this.#abandoned.size',
    replace: 'this.#concurrency - this.#attempts.size',
    and: { find: 'if (this.#abandoned.isDraining) return 0;', replace: '' },
    suites: abandoning,
  },
  {
    name: 'worker: the slot of an abandoned handler is never free again',
    file: 'src/worker/attempt/abandoned-attempts.ts',
    find: '    this.#attempts.delete(attempt);\n',
    replace: '',
    suites: abandoning,
  },
  {
    name: 'worker: a worker with too many abandoned handlers claims more jobs',
    file: 'src/worker/loop/queue-worker.ts',
    find: 'if (this.#abandoned.isDraining) return 0;',
    replace: '',
    suites: abandoning,
  },
  {
    name: 'worker: the registration does not show why the worker drains',
    file: 'src/worker/loop/registration.ts',
    find: 'const shown = this.#info;',
    replace: 'const shown = plan.worker.info;',
    suites: abandoning,
  },
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
    name: 'worker: the lease renewer keeps the thread of a closed store alive',
    file: 'src/worker/lease/serve-renewer.ts',
    find: 'for (const loop of loops.values()) void loop.close();',
    replace: '',
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
    find: 'if (!isRepeated) this.#remove(request);',
    replace: 'this.#remove(request);',
    suites: outages,
  },
  {
    name: 'worker: a worker runs more jobs than it has slots',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'const limit = Math.min(this.#room(), this.#share());',
    replace: 'const limit = this.#room() > 0 ? MAX_CLAIM : 0;',
    suites: running,
  },
  {
    name: 'worker: a second request asks for the slots of the first',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'return this.#open.reduce((room, { claim }) => room - claim.limit, this.#options.room());',
    replace: 'return this.#options.room();',
    suites: claiming,
  },
  {
    name: 'worker: a third request is sent before the first is answered',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'if (first !== this.#newest || first?.isLost === true) return false;',
    replace: 'if (first?.isLost === true) return false;',
    suites: claiming,
  },
  {
    name: 'worker: a new request is sent beside the repeat of a lost one',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'if (first !== this.#newest || first?.isLost === true) return false;',
    replace: 'if (first !== this.#newest) return false;',
    suites: claiming,
  },
  {
    name: 'worker: a loop is stopped while its second request is in flight',
    file: 'src/worker/loop/claim-loop.ts',
    find: 'if (!this.#isStopped || this.#open.length > 0) return;',
    replace: 'if (!this.#isStopped || this.#open.length > 1) return;',
    suites: claiming,
  },
];
