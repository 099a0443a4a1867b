/**
 * The model suite: random programs on a store, held against the model. A store is emptied between programs rather
 * than opened anew; one that disagreed is thrown away, so that a program is shrunk on stores without a past.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { StoreEvent } from '../../src/core/job-store.ts';
import { QUEUE_RECORD } from '../../src/core/settings.ts';
import type { Store } from '../../src/core/store.ts';
import type { OpenStore } from '../contract/contract.ts';
import { START } from '../contract/workbench.ts';
import { proofSize } from '../support/proof.ts';
import { Disagreement, Duel } from './duel.ts';
import { aProgram, type Program } from './program.ts';

type Clock = 'caller' | 'guarded';

const PROGRAMS: Readonly<Record<Clock, number>> = proofSize({
  small: { caller: 1_500, guarded: 500 },
  full: { caller: 15_000, guarded: 5_000 },
});
const MAX_STEPS = 30;
const TIMEOUT_MS = proofSize({ small: 300_000, full: 3_600_000 });
/** Between two programs, so that nothing of the one can reach into the other. */
const PAUSE_MS = 1_000_000_000;

export function modelSuite(name: string, open: OpenStore): void {
  describe.each([name])('%s', () => {
    const clocks: readonly Clock[] = ['caller', 'guarded'];
    it.each(clocks)(
      'does what the model says, in every program of calls (clock: %s)',
      (clock) => holdAgainstModel(open, clock),
      TIMEOUT_MS,
    );
  });
}

async function holdAgainstModel(open: OpenStore, clock: Clock): Promise<void> {
  const arena = new Arena(open, clock);
  const seed = Number(process.env['LONGHAUL_SEED'] ?? Date.now() % 0x7fffffff);
  const property = fc.asyncProperty(aProgram(clock, MAX_STEPS), (program) => arena.run(program));
  try {
    const outcome = await fc.check(property, { numRuns: PROGRAMS[clock], seed });
    if (outcome.failed) throw new Error(report(outcome, clock, seed));
  } finally {
    await arena.close();
  }
}

function report(outcome: fc.RunDetails<[Program]>, clock: Clock, seed: number): string {
  const [program] = outcome.counterexample ?? [[]];
  const why = outcome.errorInstance instanceof Error ? outcome.errorInstance.message : String(outcome.errorInstance);
  const runs = `program ${outcome.numRuns}, shrunk ${outcome.numShrinks} times, LONGHAUL_SEED=${seed}`;
  return `${why}\n\n${runs}, clock: '${clock}'\n\n${asCode(program ?? [])}`;
}

/** A program as one would write it. */
export function asCode(program: Program): string {
  const lines = program.map((step) => `  ${JSON.stringify(step).replaceAll(/"([A-Za-z_]\w*)":/g, '$1: ')},`);
  return `const program: Program = [\n${lines.join('\n')}\n];`;
}

/** A store that program after program is run on. */
export class Arena {
  readonly #open: OpenStore;
  readonly #clock: Clock;
  #now = START;
  #ring: Ring | undefined;

  constructor(open: OpenStore, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  async run(program: Program): Promise<void> {
    this.#ring ??= await Ring.enter(await this.#open({ clock: this.#clock }), this.#now);
    const duel = new Duel(this.#ring.store, this.#clock, this.#now);
    try {
      await duel.run(program);
      const heard = await this.#ring.heard(duel.now);
      compareEvents(duel.expectedEvents, heard);
      await duel.clear();
      await this.#ring.heard(duel.now);
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#now = Math.max(this.#now, duel.now) + PAUSE_MS;
  }

  async close(): Promise<void> {
    const ring = this.#ring;
    this.#ring = undefined;
    await ring?.store.close();
  }
}

function compareEvents(expected: readonly StoreEvent[], heard: readonly StoreEvent[]): void {
  const words = (events: readonly StoreEvent[]): string =>
    events.map(({ type, id, queue, state }) => `${type} ${id}@${queue} ${state}`).join(', ');
  if (words(expected) === words(heard)) return;
  throw new Disagreement(`the events\n  expected ${words(expected)}\n  received ${words(heard)}`);
}

const BELL = 'bell';
const DEADLINE_MS = 10_000;
const PROBE_MS = 100;

/** A store with an ear at it. A bell, which is an event of its own, marks how far one has heard. */
class Ring {
  readonly store: Store;
  #events: StoreEvent[] = [];
  #onBell: () => void = () => undefined;

  private constructor(store: Store) {
    this.store = store;
  }

  static async enter(store: Store, now: number): Promise<Ring> {
    const ring = new Ring(store);
    store.jobs.subscribe((events) => ring.#take(events));
    // A subscription may take a moment to be up.
    for (const end = Date.now() + DEADLINE_MS; ; ) {
      if (await ring.#ringBell(now, PROBE_MS)) break;
      if (Date.now() > end) throw new Error('nothing was heard of the store');
    }
    ring.#events = [];
    return ring;
  }

  /** Everything heard since the last time. */
  async heard(now: number): Promise<readonly StoreEvent[]> {
    if (!(await this.#ringBell(now, DEADLINE_MS))) throw new Disagreement('the events no longer come');
    const events = this.#events.filter(({ queue }) => queue !== BELL);
    this.#events = [];
    return events;
  }

  #take(events: readonly StoreEvent[]): void {
    this.#events.push(...events);
    if (events.some(({ queue }) => queue === BELL)) this.#onBell();
  }

  async #ringBell(now: number, deadlineMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const isHeard = new Promise<boolean>((resolve) => {
      this.#onBell = () => resolve(true);
      timer = setTimeout(() => resolve(false), deadlineMs);
    });
    await this.store.records.put({ kind: QUEUE_RECORD, key: BELL, value: '{}' }, { now });
    return isHeard.finally(() => clearTimeout(timer));
  }
}
