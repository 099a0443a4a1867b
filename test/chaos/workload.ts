/** The workload of a chaos run: its queues, the jobs that producers add, and the script of the node's queue. */
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingsInput } from '../../src/library/index.ts';

export const LEASE_MS = 1_500;

/** Keeps all jobs and never gives a job up: the checks count them. */
export const SETTINGS: SettingsInput = {
  lease: LEASE_MS,
  heartbeat: LEASE_MS / 4,
  retries: 100_000,
  backoff: 0,
  lostCountsAs: 'failure',
  maxCrashes: 1_000_000,
  retention: { done: { count: null }, failed: { count: null } },
};

export const FIRST_LIMIT = 3;
/** While the queues drain. */
export const LAST_LIMIT = 20;
export const LAST_RATE = '1000/1s';

/** Queues of the library workers, with settings of their own. */
export const QUEUES: Readonly<Record<string, SettingsInput>> = {
  plain: {},
  steps: {},
  limited: { maxRunning: FIRST_LIMIT },
  rated: { rate: '100/1s' },
  doomed: {},
};
export const SCRIPT_QUEUE = 'scripts';

export interface PlannedJob {
  readonly queue: string;
  readonly data: Readonly<Record<string, number | boolean>>;
}

const plain = (data: PlannedJob['data'] = {}): PlannedJob => ({ queue: 'plain', data });
const script: PlannedJob = { queue: SCRIPT_QUEUE, data: {} };

/** Each producer adds its jobs in turn. */
export const JOBS: Readonly<Record<'library' | 'http' | 'cli', readonly PlannedJob[]>> = {
  library: [
    plain(),
    plain({ ms: 300, lines: 6 }),
    plain(),
    { queue: 'steps', data: { steps: 3, ms: 20 } },
    plain({ fails: true }),
    plain(),
    { queue: 'rated', data: {} },
    plain(),
    { queue: 'doomed', data: { ms: 10 } },
    plain({ ms: 50 }),
    plain({ lines: 2 }),
    { queue: 'limited', data: { ms: 40 } },
    plain(),
    plain({ ms: 900, lines: 9 }),
    { queue: 'steps', data: { steps: 5 } },
    { queue: 'rated', data: { ms: 5 } },
    plain(),
    plain({ fails: true, ms: 10 }),
    { queue: 'limited', data: { ms: 800 } },
    plain(),
    ...Array.from({ length: 20 }, () => plain()),
  ],
  http: [
    plain(),
    script,
    plain({ ms: 100 }),
    { queue: 'steps', data: { steps: 2 } },
    plain(),
    { queue: 'limited', data: {} },
  ],
  cli: [script, plain({ lines: 2 })],
};

/** Writes a ledger without a fork, three log lines, and its token as the result. */
const scriptFor = (ledger: string): string => `#!/bin/bash
exec 9<><(:)
say() {
  read -r up _ < /proc/uptime
  echo "{\\"at\\":\${up/./}0,\\"pid\\":$$,\\"type\\":\\"$1\\",\\"id\\":\\"$LONGHAUL_JOB_ID\\",\\"token\\":$LONGHAUL_ATTEMPT_TOKEN,\\"attempt\\":$LONGHAUL_ATTEMPT$2}" >> ${ledger}
}
say start
for ((line = 0; line < 3; line++)); do
  say line ",\\"line\\":$line"
  echo "line $line"
  for ((tick = 0; tick < RANDOM % 3; tick++)); do read -r -t 0.1 -u 9; say alive; done
done
say end
echo "result $LONGHAUL_ATTEMPT_TOKEN" >&3
`;

/** Writes the queue of scripts into a data directory. */
export function writeScriptQueue(home: string, ledger: string): void {
  const queues = join(home, 'queues');
  mkdirSync(queues, { recursive: true, mode: 0o700 });
  const path = join(queues, SCRIPT_QUEUE);
  writeDurably(path, scriptFor(ledger), 0o755);
  writeDurably(`${path}.json`, JSON.stringify({ ...SETTINGS, concurrency: 3, grace: 500 }), 0o644);
}

/** A power cut must not take the script: an empty one would succeed. */
function writeDurably(path: string, text: string, mode: number): void {
  const file = openSync(path, 'w', mode);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}
