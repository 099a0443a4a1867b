/**
 * Every step of a relay times every network fault. Each cell is a job with two files, sent through a proxy that breaks
 * that step once. In every case one job arrives with the same hashes, and its sender ends done. Each cell has an
 * address of its own, so that all run at once. The rows of killed nodes: killed.test.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpFate, HttpFaultProxy, SeenRequest } from '../support/http-fault-proxy.ts';
import { openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import type { SentFile, TrialNode } from './relay-bench.ts';
import { aFile, ended, filesOf, hashesOf, jobsIn, relay, startNode, until } from './relay-bench.ts';
import type { Step } from './relay-steps.ts';
import { needsCut, STEPS } from './relay-steps.ts';

const FAULTS = {
  'cut before the request': 'cut-before',
  'cut in the middle of the request': 'cut-middle',
  'cut after the request was done': 'lose-reply',
  'cut in the middle of the answer': 'half-reply',
  'delayed past the time-out': 'hold',
} as const satisfies Record<string, HttpFate>;

interface Cell {
  readonly step: Step;
  readonly fault: keyof typeof FAULTS;
  /** Its own loopback address. */
  readonly host: string;
  readonly id: string;
  isCut: boolean;
  isBroken: boolean;
}

const cells: Cell[] = (Object.keys(STEPS) as Step[]).flatMap((step, row) =>
  (Object.keys(FAULTS) as (keyof typeof FAULTS)[]).map((fault, column) => ({
    step,
    fault,
    host: `127.0.${row + 1}.${column + 1}`,
    id: `job-${row}-${column}`,
    isCut: !needsCut(step),
    isBroken: false,
  })),
);

const files: readonly SentFile[] = [aFile('small', 1_000), aFile('large', 400_000)];
let a: TrialNode;
let b: TrialNode;
let proxy: HttpFaultProxy;

beforeAll(async () => {
  a = await startNode({ relay: { timeout: '1500ms' } });
  b = await startNode();
  await b.knows('mail');
  proxy = await openHttpFaultProxy(b.port);
  proxy.decide = (request) =>
    fateOf(
      cells.find(({ host }) => host === request.host),
      request,
    );
  for (const { id, host } of cells) await relay(a, { id, to: `http://${host}:${proxy.port}/q/mail`, data: id, files });
});

afterAll(() => proxy.close());

/** Each cell breaks its step once. */
function fateOf(cell: Cell | undefined, request: SeenRequest): HttpFate {
  if (cell === undefined || cell.isBroken) return 'pass';
  if (!cell.isCut) {
    if (!STEPS['large file'](request)) return 'pass';
    cell.isCut = true;
    return 'cut-middle';
  }
  if (!STEPS[cell.step](request)) return 'pass';
  cell.isBroken = true;
  return FAULTS[cell.fault];
}

it.each(cells)('$step, $fault: one complete job arrives, and its sender is done', async (cell) => {
  const { id, host } = cell;
  const sent = await until(a, id, ended, 60_000);
  expect(cell.isBroken).toBe(true);
  expect(sent).toMatchObject({ state: 'done', failure: null });
  const arrived = (await jobsIn(b, 'mail')).filter(({ data }) => data === JSON.stringify(id));
  expect(arrived.map(({ state }) => state)).toEqual(['waiting']);
  expect(sent.forwardedTo).toBe(`http://${host}:${proxy.port}/q/mail/${arrived[0]?.id}`);
  expect(await filesOf(b, arrived[0]?.id ?? '')).toEqual(hashesOf(files));
});

it('no node reported an error, and no upload is left incomplete', async () => {
  expect((await jobsIn(b, 'mail')).length).toBe(cells.length);
  expect(await b.store.records.list({ kind: 'upload', limit: 10 })).toEqual([]);
  expect([...a.troubles, ...b.troubles]).toEqual([]);
});
