/**
 * A disk that fails reads, writes and renames under a running node. A node whose store stays unusable exits with 1 and
 * the reason, so that a supervisor restarts it or an operator is called. A short failure heals, and the node continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import type { Bench, Served } from '../processes/scripts-workbench.ts';
import { aDeadDisk, type DeadDisk, type Failing, hasCompiler } from '../support/dead-disk.ts';
import { aBench, get, post, urlOf } from './serve-bench.ts';

interface OnDisk {
  readonly bench: Bench;
  readonly disk: DeadDisk;
  readonly node: Served;
  readonly url: string;
}

async function serveOnDisk(): Promise<OnDisk> {
  const bench = aBench();
  bench.queue('mail', 'true');
  const disk = aDeadDisk(bench.home);
  const node = await bench.serve([], disk.env);
  return { bench, disk, node, url: await urlOf(node) };
}

/** Writes to the store during the test, from a healthy disk of its own. */
async function secondProcess({ bench }: OnDisk): Promise<void> {
  const { store } = await bench.longhaul();
  let isOver = false;
  const writing = (async () => {
    for (let each = 0; !isOver; each += 1) {
      await store.records.put({ kind: 'test', key: 'beat', value: String(each) });
      await sleep(50);
    }
  })();
  onTestFinished(async () => {
    isOver = true;
    await writing;
  });
}

const add = (url: string, id: string) =>
  post(url, '/api/store/add', { argument: [{ id, queue: 'mail', data: '1' }] }).then(
    ({ status }) => status,
    () => 0,
  );

/** Until a call fails; afterwards calls and jobs succeed again. */
async function failShortly({ disk, url, bench }: OnDisk, calls: Failing): Promise<void> {
  disk.fail(calls);
  await eventually(
    () => add(url, `during-${calls}`),
    (status) => status !== 200,
    10_000,
  );
  disk.heal();
  await eventually(
    () => add(url, `after-${calls}`),
    (status) => status === 200,
    10_000,
  );
  await bench.until(`after-${calls}`, 'done');
}

/** Fatal lines name the file, the error and the remedy; there is exactly one. */
async function expectEndedWithReason({ node, bench }: OnDisk): Promise<void> {
  const { code } = await node.ended;
  const fatal = node.lines.filter((line) => line.includes('exits with code 1'));
  expect({ code, fatal, tail: node.lines.slice(-5) }).toMatchObject({ code: 1, fatal: [expect.any(String)] });
  expect(fatal[0]).toContain(`${bench.home}/store.db`);
  // In small letters if a file beside the database was the first that could not be read.
  expect(fatal[0]).toMatch(/I\/O error|reads fail/i);
  expect(fatal[0]).toMatch(/check the disk .* start the node again/);
}

describe.skipIf(!hasCompiler)('a node whose disk is dead', () => {
  it('exits with 1 and one reason, even when it cannot remove its sockets', async () => {
    const served = await serveOnDisk();
    served.disk.fail('rwsn');
    expect(await add(served.url, 'lost')).not.toBe(200);
    await expectEndedWithReason(served);
  });

  it('continues after short failures, and exits with 1 after a long one, with a second process on the store', async () => {
    const served = await serveOnDisk();
    await secondProcess(served);
    await failShortly(served, 'r');
    await failShortly(served, 'w');
    expect((await get(served.url, '/readyz')).status).toBe(200);
    served.disk.fail('r');
    await expectEndedWithReason(served);
  });
});
