/**
 * Three nodes on one Redis, killed with -9 at random under load while scripts run: no job is lost, two runs of a job overlap
 * by no more than the grace, and no result is accepted twice. With one node dead, logs and files of all jobs can be read
 * from each of the others.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { NodeBench, openStore } from '../node/nodes-bench.ts';
import { eventually } from '../processes/scripts-workbench.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { checkHistory } from './check-history.ts';
import { figuresOf, printFigures, printSeed } from './fault-environment.ts';
import { openRandom, type SeededRandom } from './seeded-random.ts';

const FAULTS_MS = testSize({ small: 20_000, full: 120_000 });
const DRAIN_MS = 120_000;
const LEASE_MS = 2_000;
const GRACE_MS = 1_000;
/** How late a process may read the clock on a busy machine. */
const LATE_MS = 500;
const SETTINGS = { concurrency: 3, lease: LEASE_MS, heartbeat: LEASE_MS / 4, grace: GRACE_MS, maxCrashes: 1_000 };

/** Writes a ledger line ten times a second, without a fork. Its log and output contain the job id. */
const scriptFor = (ledger: string) => `
exec 9<><(:)
say() { read -r up _ < /proc/uptime; echo "$1 $LONGHAUL_JOB_ID $LONGHAUL_ATTEMPT $up" >> ${ledger}; }
say start
echo "begun $LONGHAUL_JOB_ID"
ticks=$((RANDOM % 15 + 3))
for ((tick = 0; tick < ticks; tick++)); do read -r -t 0.1 -u 9; say alive; echo "tick $tick"; done
if [ -d attach ]; then cp attach/input.txt out/output.txt; else echo "made by $LONGHAUL_JOB_ID" > out/output.txt; fi
echo "ended $LONGHAUL_JOB_ID"
say end
`;

describeWithRedis('three nodes on one Redis', () => {
  it(
    'killed at random lose nothing, overlap by no more than the grace, and leave every log and file readable',
    async () => {
      const random = openRandom();
      printSeed('killed nodes, Redis', random);
      const cluster = await openCluster();
      const { nodes, longhaul } = cluster;
      await Promise.all(nodes.map((node) => node.start()));
      const endAt = performance.now() + FAULTS_MS;
      const [added, kills] = await Promise.all([produce(nodes, endAt, random), killNodes(cluster, endAt, random)]);
      await drained(longhaul, added);
      const dead = random.pick(nodes);
      await dead.kill();

      const living = nodes.filter((node) => node !== dead);
      const histories = await Promise.all(added.map(({ id }) => historyOf(longhaul, id)));
      const verdict = checkHistory({ acked: added.map(({ id }) => id), histories });
      const overlapMs = longestOverlapMs(readFileSync(cluster.ledger, 'utf8'));
      const unreadable = await unreadableOf(living, added, histories);
      const figures = {
        seed: random.seed,
        ...figuresOf(verdict),
        kills,
        overlapMs,
        unreadable: unreadable.length,
        such: JSON.stringify(unreadable.slice(0, 3)),
      };
      printFigures('killed nodes, Redis', figures);
      expect(verdict).toMatchObject({ problems: [], left: 0, done: added.length });
      expect(overlapMs).toBeLessThanOrEqual(GRACE_MS + LATE_MS);
      expect(unreadable).toEqual([]);
      // Without kills and reruns the test proves nothing.
      expect(Math.min(kills, verdict.reruns, added.length)).toBeGreaterThan(0);
    },
    FAULTS_MS + DRAIN_MS + 60_000,
  );
});

async function openCluster() {
  const redis = await startRedis();
  const longhaul = await openStore(redis.url);
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-nodes-'));
  const ledger = join(folder, 'ledger');
  writeFileSync(ledger, '');
  const nodes = ['one', 'two', 'three'].map((name) => new NodeBench(name, redis.url));
  for (const { bench } of nodes) bench.queue('work', scriptFor(ledger), SETTINGS);
  onTestFinished(async () => {
    await longhaul.close();
    for (const { bench } of nodes) await bench.close();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { longhaul, nodes, ledger };
}

/** Kills and restarts one node at a time: one of the two copies of a file is always on a live node. */
async function killNodes(
  { nodes, longhaul }: { readonly nodes: readonly NodeBench[]; readonly longhaul: Longhaul },
  endAt: number,
  random: SeededRandom,
): Promise<number> {
  let kills = 0;
  for (; performance.now() < endAt; kills += 1) {
    await sleep(random.between(1_500, 4_000));
    const node = kills === 0 ? await busyNode(nodes, longhaul) : random.pick(nodes);
    await node.kill();
    // The first node stays down longer than a lease, so that others take over. Some return in time to adopt their scripts.
    await sleep(kills === 0 ? LEASE_MS * 1.5 : random.between(0, LEASE_MS * 1.5));
    await node.start();
  }
  return kills;
}

/** Returns a node that runs a job at this moment: another node must run that job again. */
async function busyNode(nodes: readonly NodeBench[], longhaul: Longhaul): Promise<NodeBench> {
  const find = async () => {
    const busy = (await longhaul.workers()).filter(({ running }) => running.length > 0).map(({ pid }) => pid);
    return nodes.find(({ served }) => busy.includes(served.pid));
  };
  return (await eventually(find, (node) => node !== undefined, 30_000)) as NodeBench;
}

interface Added {
  readonly id: string;
  readonly output: string;
}

/** Every third job has a file. Each add is repeated until a node confirms it. */
async function produce(nodes: readonly NodeBench[], endAt: number, random: SeededRandom): Promise<readonly Added[]> {
  const added: Added[] = [];
  for (let number = 1; performance.now() < endAt; number += 1) {
    const id = `job-${number}`;
    const given = number % 3 === 0 ? `given to ${id}\n` : null;
    await eventually(
      () => addTo(random.pick(nodes), id, given).catch(() => false),
      (isAdded) => isAdded,
      30_000,
    );
    added.push({ id, output: given ?? `made by ${id}\n` });
    await sleep(random.between(100, 400));
  }
  return added;
}

async function addTo(node: NodeBench, id: string, given: string | null): Promise<boolean> {
  if (!node.isUp) return false;
  if (given !== null) return node.addWithFile('work', id, { name: 'input.txt', bytes: given }).then(() => true);
  const { status } = await node.post('/api/jobs', { id, queue: 'work', data: {} });
  return status === 200 || status === 201;
}

async function drained(longhaul: Longhaul, added: readonly Added[]): Promise<void> {
  await eventually(
    async () => {
      const jobs = await Promise.all(added.map(({ id }) => longhaul.find(id)));
      return jobs.filter((job) => job?.state !== 'done').map((job) => `${job?.id} ${job?.state} ${job?.reason}`);
    },
    (left) => left.length === 0,
    DRAIN_MS,
  );
}

async function historyOf({ store }: Longhaul, id: string) {
  const [[job], rows] = [await store.jobs.find([id]), await store.jobs.history(id)];
  if (job === null || job === undefined) throw new Error(`job ${id} is lost`);
  return { job, rows };
}

/** Returns the logs and outputs that a live node does not serve correctly. */
async function unreadableOf(
  living: readonly NodeBench[],
  added: readonly Added[],
  histories: readonly { readonly job: { readonly id: string; readonly attempt: number } }[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const node of living)
    for (const [place, { id, output }] of added.entries()) {
      const attempt = histories[place]?.job.attempt ?? 0;
      const log = await node.get(`/api/jobs/${id}/attempts/${attempt}/log`);
      if (log.status !== 200 || !log.text.startsWith(`begun ${id}\n`) || !log.text.endsWith(`ended ${id}\n`))
        wrong.push(`${node.name}: log of ${id}: ${log.status} ${log.text.slice(-200)}`);
      const made = await node.get(`/api/jobs/${id}/attachments/output.txt`);
      if (made.status !== 200 || made.text !== output)
        wrong.push(`${node.name}: file of ${id}: ${made.status} ${made.text.slice(-200)}`);
    }
  return wrong;
}

/** From the ledger of the scripts: a run lasts from its first to its last line. */
function longestOverlapMs(ledger: string): number {
  const runs = new Map<string, { id: string; from: number; to: number }>();
  for (const line of ledger.split('\n').slice(0, -1)) {
    const [, id = '', attempt = '', up = ''] = line.split(' ');
    const at = Number(up) * 1_000;
    const known = runs.get(`${id} ${attempt}`);
    runs.set(`${id} ${attempt}`, { id, from: known?.from ?? at, to: at });
  }
  const all = [...runs.values()];
  const overlaps = all.flatMap((one, place) =>
    all
      .slice(place + 1)
      .filter(({ id }) => id === one.id)
      .map((other) => Math.min(one.to, other.to) - Math.max(one.from, other.from)),
  );
  return Math.round(Math.max(0, ...overlaps));
}
