/** Prepares a data directory like after months of use: many done jobs, some failed ones, and queues with running jobs. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const batch = 1_000;
const KINDS = ['transcode', 'thumbnail', 'report', 'backup', 'import'];
const FAILURES = ['disk full', 'connection refused', 'bad checksum', 'exit-1', 'timeout'];
/** One of this many jobs fails. */
const failsEvery = 100;

/** Exits when its data directory is removed, at the latest after ten minutes: a script outlives its node. */
const running = `#!/bin/sh
n=0
while [ -e "$LONGHAUL_DATA" ] && [ $n -lt 600 ]; do
  n=$((n + 1)); echo "step $n of 600: all is well"; echo "progress $((n / 6)) step $n" >&3; sleep 1
done
`;
const talker = `#!/bin/sh
yes 'INFO  worker-3  frame encoded, \\033[32mok\\033[0m, 1.93 MB in 0.41 s, queue depth 18, nothing else to say' | head -c "$BYTES" | cat -n
echo 'ERROR the last line but one'
echo 'the end of the log'
`;

export function makeQueues(home, { logBytes, runningJobs }) {
  mkdirSync(join(home, 'queues'), { recursive: true, mode: 0o700 });
  const put = (name, script, settings) => {
    writeFileSync(join(home, 'queues', `${name}.json`), JSON.stringify(settings));
    writeFileSync(join(home, 'queues', name), script, { mode: 0o755 });
  };
  put('long', running, { concurrency: runningJobs });
  put('talker', talker, { env: { BYTES: String(logBytes) }, limits: { log: '4GB' } });
}

/** Adds, claims and settles jobs through the port; returns the ids of a done job and of a failed one. */
export async function endJobs(longhaul, count, print) {
  const queue = longhaul.queue('history');
  const forever = { for: null, count: null };
  await queue.configure({ retention: { done: forever, failed: forever } });
  let last = [];
  for (let done = 0; done < count; done += batch) {
    await queue.addAll(
      Array.from({ length: batch }, (_, n) => ({ film: done + n })),
      { name: KINDS[(done / batch) % 5] },
    );
    last = (
      await longhaul.store.jobs.claim({ worker: 'seed', queues: ['history'], limit: batch, requestId: randomUUID() })
    ).jobs;
    await longhaul.store.jobs.settle(last.map((job, n) => settlementOf(job, done + n)));
    if ((done / batch) % 100 === 99) print(`${(done + batch).toLocaleString('en')} jobs have ended`);
  }
  return { done: last.at(-1).id, failed: last[0].id };
}

function settlementOf({ id, lease: { token } }, n) {
  if (n % failsEvery !== 0) return { kind: 'complete', id, token };
  const group = FAILURES[(n / failsEvery) % FAILURES.length];
  return { kind: 'fail', id, token, delayMs: 0, failure: { group, message: `film ${n}: ${group}`, detail: null } };
}
