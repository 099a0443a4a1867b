/**
 * Two nodes in two networks. Jobs with files go from one to the other while the link is cut and both nodes are killed
 * with -9, repeatedly: each arrives once, with the same hashes, and is done at its sender.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { cli } from '../processes/scripts-workbench.ts';
import { testSize } from '../support/test-size.ts';
import type { TwoNetworks } from '../support/two-networks.ts';
import { openTwoNetworks } from '../support/two-networks.ts';
import type { SentFile } from './relay-bench.ts';
import { aFile, hashesOf } from './relay-bench.ts';
import { ServedNode } from './serve-bench.ts';

vi.setConfig({ testTimeout: testSize({ small: 180_000, full: 3_600_000 }), hookTimeout: 60_000 });

const JOBS = testSize({ small: 60, full: 500 });
const LARGEST = testSize({ small: 5_000_000, full: 50_000_000 });
const ROUNDS = testSize({ small: 2, full: 20 });
/** Few files are large, and one has the maximum size. */
const sizeOf = (number: number): number =>
  number === 1 ? LARGEST : Math.floor(LARGEST * (randomInt(1_000) / 1_000) ** 6);

it(`${JOBS} jobs with files of 0 to ${LARGEST / 1e6} MB arrive once, whatever is cut and killed`, async () => {
  const networks = await openTwoNetworks();
  try {
    await relayThrough(networks);
  } finally {
    await networks.close();
  }
});

async function relayThrough(networks: TwoNetworks): Promise<void> {
  const [prefixA, prefixB] = networks.prefixes;
  const receiver = new ServedNode({}, prefixB);
  receiver.port = networks.port;
  const token = tokenOf(receiver);
  await receiver.start(['--listen', networks.listen]);
  await receiver.knows('mail');
  const base = await networks.addressOf(receiver.port);
  const allowed = { allowDestinations: [new URL(base).hostname], relay: { timeout: '2s' } };
  const sender = new ServedNode({ ...allowed, destinations: { [base]: { token } } }, prefixA);
  await sender.start();
  const sent = new Map<string, readonly SentFile[]>();
  const adding = addAll(sender, `${base}q/mail`, sent);
  await harm(networks, { sender, receiver });
  await adding;
  await mustArrive({ sender, receiver, sent });
  process.stdout.write(`\nfigures: relay: ${JOBS} jobs over ${networks.words}, each arrived once\n`);
}

/** A node needs a token before it listens beyond the loopback. */
function tokenOf({ home }: ServedNode): string {
  const args = [cli, 'token', 'create', 'sender', '--role', 'relay', '--home', home, '--json'];
  const { token } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as { token: string };
  return token;
}

async function addAll(sender: ServedNode, to: string, sent: Map<string, readonly SentFile[]>): Promise<void> {
  for (let number = 0; number < JOBS; number += 1) {
    const files =
      number % 5 === 0 ? [] : [aFile('one', sizeOf(number)), ...(number % 3 === 0 ? [aFile('two', 100)] : [])];
    sent.set(`job-${number}`, files);
    await sender.relay(`job-${number}`, to, files);
  }
}

async function harm(
  networks: TwoNetworks,
  { sender, receiver }: { sender: ServedNode; receiver: ServedNode },
): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const victim of [receiver, sender]) {
      networks.cut();
      await wait(randomInt(100, 800));
      networks.mend();
      await wait(randomInt(100, 500));
      await victim.kill9();
      await victim.start(victim === receiver ? ['--listen', networks.listen] : []);
      await wait(randomInt(100, 500));
    }
  }
}

async function mustArrive(all: {
  sender: ServedNode;
  receiver: ServedNode;
  sent: ReadonlyMap<string, readonly SentFile[]>;
}) {
  const { sender, receiver, sent } = all;
  for (const id of sent.keys()) {
    const job = await sender.until(id, 'done', 60_000);
    expect(job).toMatchObject({ state: 'done', failure: null });
  }
  const arrived = await eventually(
    () => receiver.jobsIn('mail'),
    (jobs) => jobs.length >= sent.size,
  );
  expect(arrived.map(({ data }) => data).sort(byText)).toEqual([...sent.keys()].sort(byText));
  for (const { id, data } of arrived)
    expect(await receiver.filesOf(id)).toEqual(hashesOf(sent.get(String(data)) ?? []));
}

const byText = (one: unknown, other: unknown): number => String(one).localeCompare(String(other));
