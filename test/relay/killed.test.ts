/**
 * The rows of the table where a node is killed with -9. One job stands at each step of a relay: the receiver has done
 * that step, and its answer is held back. Then the sender or the receiver is killed and restarted. The other rows:
 * fault-table.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpFate, HttpFaultProxy, SeenRequest } from '../support/http-fault-proxy.ts';
import { openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import { aFile, hashesOf } from './relay-bench.ts';
import type { Step } from './relay-steps.ts';
import { needsCut, STEPS } from './relay-steps.ts';
import { ServedNode } from './serve-bench.ts';

const FILE = { allowDestinations: ['127.0.0.0/8'], relay: { timeout: '60s' } };
const files = [aFile('small', 1_000), aFile('large', 400_000)];
const steps = Object.keys(STEPS) as Step[];

interface Row {
  readonly step: Step;
  readonly id: string;
  readonly host: string;
  isCut: boolean;
  isHeld: boolean;
}

describe.each(['sender', 'receiver'] as const)('%s killed', (victim) => {
  const sender = new ServedNode(FILE);
  const receiver = new ServedNode(FILE);
  const rows = steps.map((step, place): Row => {
    return { step, id: `job-${place}`, host: `127.0.8.${place + 1}`, isCut: !needsCut(step), isHeld: false };
  });
  let proxy: HttpFaultProxy;

  beforeAll(async () => {
    await Promise.all([sender.start(), receiver.start()]);
    await receiver.knows('mail');
    proxy = await openHttpFaultProxy(receiver.port);
    const allHeld = holdAll(proxy, rows);
    for (const { id, host } of rows) await sender.relay(id, `http://${host}:${proxy.port}/q/mail`, files);
    await allHeld;
    const node = victim === 'sender' ? sender : receiver;
    await node.kill9();
    proxy.cutAll();
    await node.start();
    return () => proxy.close();
  });

  it.each(rows)('at $step: one complete job arrives, and its sender is done', async ({ id, host }) => {
    const sent = await sender.until(id, 'done');
    expect(sent).toMatchObject({ state: 'done', failure: null, crashes: 0 });
    const arrived = (await receiver.jobsIn('mail')).filter(({ data }) => data === id);
    expect(arrived.map(({ state }) => state)).toEqual(['waiting']);
    expect(sent?.forwardedTo).toBe(`http://${host}:${proxy.port}/q/mail/${arrived[0]?.id}`);
    expect(await receiver.filesOf(arrived[0]?.id ?? '')).toEqual(hashesOf(files));
  });
});

/** Lets each row through to its step, and holds its answer back. Resolves when all rows are there. */
function holdAll(proxy: HttpFaultProxy, rows: readonly Row[]): Promise<void> {
  const rowOf = ({ host }: SeenRequest): Row | undefined => rows.find((row) => row.host === host);
  proxy.decide = (request): HttpFate => {
    const row = rowOf(request);
    if (row === undefined || row.isHeld) return 'pass';
    if (!row.isCut && STEPS['large file'](request)) {
      row.isCut = true;
      return 'cut-middle';
    }
    return row.isCut && STEPS[row.step](request) ? 'hold' : 'pass';
  };
  return new Promise((resolve) => {
    proxy.onDone = (request) => {
      const row = rowOf(request);
      if (row === undefined || !row.isCut || !STEPS[row.step](request)) return;
      row.isHeld = true;
      if (rows.every(({ isHeld }) => isHeld)) resolve();
    };
  });
}
