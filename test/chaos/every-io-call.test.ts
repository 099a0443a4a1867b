/**
 * An I/O error at every n-th call of a fixed scenario, to its end (errors of read, write and sync, by LD_PRELOAD): each run
 * ends in a named state, and a new process finds every confirmed job and completes it once.
 *
 * The small size fails calls that are spread over the scenario; the full size fails each of them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ERROR_CODES } from '../../src/core/ports/errors.ts';
import { connect } from '../../src/library/index.ts';
import { printFigures } from '../faults/fault-environment.ts';
import { type LedgerEntry, readLedger } from '../faults/ledger.ts';
import { hasCompiler } from '../support/dead-disk.ts';
import { openDeadDisk } from '../support/open-dead-disk.ts';
import { compileLibrary } from '../support/preload-library.ts';
import { startFixture } from '../support/processes.ts';
import { isFullSize } from '../support/test-size.ts';

/** How a run ended. Any other end is a finding: a hang, a signal, an error without a code of docs/errors.md. */
type State = 'unharmed' | 'repeated' | 'gave up';

const IDS = ['a', 'b', 'c'];
const RUN_MS = 20_000;
/** Runs at once: a run waits for its disk and its leases more than it computes. */
const AT_ONCE = 3;
/** Calls of the small size: the start, the first schema, the runs of the jobs. */
const SMALL = [3, 90, 380];
/** More calls than the scenario has: a run that needs them does not end. */
const MOST_CALLS = 5_000;
/** Runs without an error end the test. The number of calls differs a little from run to run. */
const MISSES = 3;
const GAVE_UP = 3;

interface Run {
  readonly hasHit: boolean;
  readonly state: State;
}

async function runWithError(folder: string, library: string, nth: number): Promise<Run> {
  const own = join(folder, String(nth));
  const [home, ledgers] = [join(own, 'disk'), join(own, 'ledger')];
  for (const each of [home, ledgers]) mkdirSync(each, { recursive: true });
  const disk = openDeadDisk({ root: home, folder: own, library });
  disk.failOnce('rws', nth);
  const scenario = await startFixture('io-scenario.mjs', [JSON.stringify({ home, ledgers })], { env: disk.env });
  const timer = setTimeout(() => void scenario.kill9(), RUN_MS);
  const { code, signal } = await scenario.ended;
  clearTimeout(timer);
  const entries = readLedger(ledgers);
  const state = stateOf({ code, signal, entries });
  const problems = entries.filter(isProblem);
  expect(state, `call ${nth} failed: ${JSON.stringify(problems)}, ${signal ?? code}`).not.toBeNull();
  // The disk refused one call: the file is not damaged, and an operator must not restore a backup.
  expect(problems.map((problem) => problem.code ?? null)).not.toContain('data-corrupt');
  await expectRecovery(home, entries, nth);
  const hasHit = disk.hasHit();
  rmSync(own, { recursive: true });
  return { hasHit, state: state ?? 'unharmed' };
}

const isProblem = ({ type }: LedgerEntry): boolean => type === 'refused' || type === 'store-away' || type === 'trouble';

function stateOf({ code, signal, entries }: { code: number | null; signal: unknown; entries: readonly LedgerEntry[] }) {
  const problems = entries.filter(isProblem);
  const isNamed = entries
    .filter(({ type }) => type === 'refused')
    .every(({ code: each }) => ERROR_CODES.some((known) => known === each));
  if (signal !== null || !isNamed || (code !== 0 && code !== GAVE_UP)) return null;
  if (code === GAVE_UP) return 'gave up';
  return problems.length === 0 ? 'unharmed' : 'repeated';
}

/** A new process, here this one, works on the healed disk. */
async function expectRecovery(home: string, entries: readonly LedgerEntry[], nth: number): Promise<void> {
  const acked = entries.filter(({ type }) => type === 'acked').map(({ id }) => id);
  const longhaul = await connect(home);
  try {
    longhaul.work(['fixed'], (job) => job.token);
    const find = () => longhaul.store.jobs.find(IDS);
    let jobs = await find();
    for (const endAt = Date.now() + RUN_MS; Date.now() < endAt && jobs.some(isOpen); jobs = await find())
      await sleep(20);
    const states = new Map(jobs.flatMap((job) => (job === null ? [] : [[job.id, job.state] as const])));
    expect(
      acked.map((id) => [id, states.get(id ?? '')]),
      `call ${nth} failed`,
    ).toEqual(acked.map((id) => [id, 'done']));
    for (const id of states.keys()) {
      const completions = (await longhaul.store.jobs.history(id)).filter(({ event }) => event === 'completed');
      expect(completions, `${id}, call ${nth} failed`).toHaveLength(1);
    }
  } finally {
    await longhaul.close();
  }
}

const isOpen = (job: { readonly state: string } | null): boolean => job !== null && job.state !== 'done';

describe.skipIf(!hasCompiler)('an I/O error at every n-th call of a scenario', () => {
  it('ends in a named state from which a new process recovers', { timeout: 1_800_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-io-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const library = compileLibrary('dead-disk', folder);
    const states: Record<State, number> = { unharmed: 0, repeated: 0, 'gave up': 0 };
    const planned = isFullSize ? Array.from({ length: MOST_CALLS }, (_, at) => at + 1) : [...SMALL];
    let [calls, misses] = [0, 0];
    const runInTurn = async (): Promise<void> => {
      for (let nth = planned.shift(); nth !== undefined; nth = planned.shift()) {
        const { hasHit, state } = await runWithError(folder, library, nth);
        if (!hasHit) {
          misses += 1;
          if (misses >= MISSES) planned.splice(0);
          continue;
        }
        calls += 1;
        states[state] += 1;
        if (calls % 25 === 0) process.stdout.write(`an I/O error at ${calls} calls: ${JSON.stringify(states)}\n`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
    printFigures('an I/O error at every n-th call', { calls, ...states });
    expect(planned).toEqual([]);
    expect(calls).toBeGreaterThanOrEqual(SMALL.length);
    expect(states.repeated + states['gave up']).toBeGreaterThan(0);
  });
});
