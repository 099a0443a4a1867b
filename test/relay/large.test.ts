/**
 * A large file over a link that is cut five times: it resumes each time, and the memory of neither node grows with it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import { testSize } from '../support/test-size.ts';
import { aFile, hashesOf } from './relay-bench.ts';
import { ServedNode } from './serve-bench.ts';

vi.setConfig({ testTimeout: testSize({ small: 120_000, full: 1_800_000 }), hookTimeout: 60_000 });

const SIZE = testSize({ small: 60_000_000, full: 2_000_000_000 });
const CUTS = 5;
const MOST_GROWTH = 64 * 1024 ** 2;

it(`${SIZE / 1e6} MB over a link that is cut ${CUTS} times resume, and memory stays flat`, async () => {
  const [sender, receiver] = [
    new ServedNode({ allowDestinations: ['127.0.0.1'], relay: { timeout: '5s' } }),
    new ServedNode({}),
  ];
  await Promise.all([sender.start(), receiver.start()]);
  await receiver.knows('films');
  const proxy = await openHttpFaultProxy(receiver.port);
  let cuts = 0;
  let puts = 0;
  let sent = 0;
  proxy.onBody = (bytes) => {
    sent += bytes;
    if (cuts >= CUTS || sent < ((cuts + 1) * SIZE) / (CUTS + 1)) return;
    cuts += 1;
    proxy.cutAll();
  };
  proxy.decide = ({ method, path }) => {
    if (method === 'PUT' && path.endsWith('/film')) puts += 1;
    return 'pass';
  };
  try {
    const film = aFile('film', SIZE);
    // Both nodes relay once before the measurement.
    await sender.relay('first', `http://127.0.0.1:${proxy.port}/q/films`, []);
    await sender.until('first', 'done');
    const meters = [sender, receiver].map((node) => memoryMeter(node.pid));
    await sender.relay('large', `http://127.0.0.1:${proxy.port}/q/films`, [film]);
    await eventually(
      () => sender.find('large'),
      (job) => job?.state === 'done',
      testSize({ small: 90_000, full: 1_500_000 }),
    );
    const arrived = (await receiver.jobsIn('films')).filter(({ data }) => data === 'large');
    expect(arrived).toHaveLength(1);
    expect(await receiver.filesOf(arrived[0]?.id ?? '')).toEqual(hashesOf([film]));
    expect(cuts).toBe(CUTS);
    // Each cut needs another try; a try may also meet a link that is still being cut.
    const fewest = CUTS + 1 + Math.floor(SIZE / (256 * 1024 ** 2));
    expect(puts).toBeGreaterThanOrEqual(fewest);
    expect(puts).toBeLessThanOrEqual(fewest + CUTS);
    // Bytes that arrived are not sent again.
    expect(sent).toBeLessThan(SIZE * 1.5);
    for (const growth of meters.map((meter) => meter())) expect(growth).toBeLessThan(MOST_GROWTH);
  } finally {
    await proxy.close();
  }
});

/** Returns by how many bytes it grew at most since now. */
function memoryMeter(pid: number): () => number {
  const of = (field: string): number =>
    1024 * Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = of('VmRSS');
  return () => of('VmHWM') - before;
}
