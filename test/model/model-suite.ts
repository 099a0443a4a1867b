/**
 * The model suite: random programs on a store, held against the model. A store is emptied between programs rather
 * than opened anew; one that disagreed is thrown away, so that a program is shrunk on stores without a past.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { StoreEvent } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { EVERY_QUEUE, QUEUE_RECORD } from '../../src/core/settings/settings.ts';
import type { OpenStore } from '../contract/contract.ts';
import { START } from '../contract/workbench.ts';
import { testSize } from '../support/test-size.ts';
import { Differential, Disagreement } from './differential.ts';
import { aProgram } from './draw-program.ts';
import { PROFILES, type Profile, type Program } from './program.ts';

type ProfileName = keyof typeof PROFILES;

/** At the small size, 2,000 a store. */
const PROGRAMS: Readonly<Record<ProfileName, number>> = {
  'few jobs': testSize({ small: 760, full: 10_000 }),
  'many jobs': testSize({ small: 420, full: 5_000 }),
  "a clock like the store's own": testSize({ small: 255, full: 5_000 }),
  'limited jobs': testSize({ small: 345, full: 10_000 }),
  'jobs with hooks': testSize({ small: 220, full: 5_000 }),
};
/** The same programs for everybody who changes something, and others in every full run. */
const SEED = testSize({ small: 20_261_115, full: Date.now() % 0x7fffffff });
const TIMEOUT_MS = testSize({ small: 600_000, full: 3_600_000 });
/** Between two programs, so that nothing of the one can reach into the other. */
const PAUSE_MS = 1_000_000_000;

export interface SuiteOptions {
  /** Default: all of them. */
  readonly profiles?: readonly ProfileName[];
  /** Of the usual number of programs, for a store whose calls take long. */
  readonly share?: number;
  /** Progress that changed nothing need not be told to other processes; then progress is not listened for. */
  readonly isDeafToProgress?: boolean;
}

export function modelSuite(name: string, open: OpenStore, options: SuiteOptions = {}): void {
  const { profiles = Object.keys(PROFILES) as ProfileName[] } = options;
  describe.each([name])('%s', () => {
    it.each(profiles)(
      'does what the model says, in every program of calls: %s',
      (profile) => holdAgainstModel(open, profile, options),
      TIMEOUT_MS,
    );
  });
}

async function holdAgainstModel(open: OpenStore, profile: ProfileName, options: SuiteOptions): Promise<void> {
  const { share = 1, isDeafToProgress = false } = options;
  const environment = new FaultEnvironment(open, { profile: PROFILES[profile], isDeafToProgress });
  const seed = Number(process.env['LONGHAUL_SEED'] ?? SEED);
  const property = fc.asyncProperty(aProgram(PROFILES[profile]), (program) => environment.run(program));
  try {
    const outcome = await fc.check(property, { numRuns: PROGRAMS[profile] * share, seed });
    if (outcome.failed) throw new Error(report(outcome, profile, seed));
  } finally {
    await environment.close();
  }
}

function report(outcome: fc.RunDetails<[Program]>, profile: string, seed: number): string {
  const [program] = outcome.counterexample ?? [[]];
  const why = outcome.errorInstance instanceof Error ? outcome.errorInstance.message : String(outcome.errorInstance);
  const runs = `program ${outcome.numRuns}, shrunk ${outcome.numShrinks} times, LONGHAUL_SEED=${seed}`;
  return `${why}\n\n${runs}, profile: ${profile}\n\n${asCode(program ?? [])}`;
}

/** A program as one would write it. */
function asCode(program: Program): string {
  const lines = program.map((step) => `  ${JSON.stringify(step).replaceAll(/"([A-Za-z_]\w*)":/g, '$1: ')},`);
  return `const program: Program = [\n${lines.join('\n')}\n];`;
}

/** A store that program after program is run on. */
class FaultEnvironment {
  readonly #open: OpenStore;
  readonly #profile: Profile;
  readonly #isHeard: (event: StoreEvent) => boolean;
  #now = START;
  #ring: Ring | undefined;

  constructor(open: OpenStore, { profile, isDeafToProgress }: { profile: Profile; isDeafToProgress: boolean }) {
    this.#open = open;
    this.#profile = profile;
    // That a slot became free is told where somebody waited for it, and who waits where is a store's own affair.
    this.#isHeard = ({ type }) => type !== 'freed' && (!isDeafToProgress || type !== 'progress');
  }

  async run(program: Program): Promise<void> {
    this.#ring ??= await Ring.enter(await this.#open({ clock: this.#profile.clock }), this.#now);
    await this.#ring.begin(this.#now);
    const differential = new Differential(this.#ring.store, this.#profile, this.#now);
    try {
      await differential.run(program);
      const heard = await this.#ring.heard(differential.now);
      compareEvents(differential.expectedEvents.filter(this.#isHeard), heard.filter(this.#isHeard));
      await differential.clear();
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#now = Math.max(this.#now, differential.now) + PAUSE_MS;
  }

  async close(): Promise<void> {
    const ring = this.#ring;
    this.#ring = undefined;
    await ring?.store.close();
  }
}

/** What is set for every queue is told of each that the store knows, also from earlier programs. */
function withoutEchoes(heard: readonly StoreEvent[]): readonly StoreEvent[] {
  let isEcho = false;
  return heard.filter(({ type, queue }) => {
    isEcho = type === 'queue' && (queue === EVERY_QUEUE || isEcho);
    return !isEcho || queue === EVERY_QUEUE;
  });
}

function compareEvents(expected: readonly StoreEvent[], heard: readonly StoreEvent[]): void {
  const words = (events: readonly StoreEvent[]): string =>
    withoutEchoes(events)
      .map(({ type, id, queue, state }) => `${type} ${id}@${queue} ${state}`)
      .join(', ');
  if (words(expected) === words(heard)) return;
  throw new Disagreement(`the events\n  expected ${words(expected)}\n  received ${words(heard)}`);
}

const GONG = 'gong';
const BELL = 'bell';
const DEADLINE_MS = 10_000;
const PROBE_MS = 100;

/** A store with an ear at it. A gong and a bell, which are events of their own, mark what belongs to a program. */
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
      if (await ring.#hasHeard(BELL, now, PROBE_MS)) return ring;
      if (Date.now() > end) throw new Error('nothing was heard of the store');
    }
  }

  /** What is heard from here on belongs to the next program. */
  begin(now: number): Promise<unknown> {
    return this.#strike(GONG, now);
  }

  /** Everything heard since the program began. */
  async heard(now: number): Promise<readonly StoreEvent[]> {
    if (!(await this.#hasHeard(BELL, now, DEADLINE_MS))) throw new Disagreement('the events no longer come');
    const began = this.#events.findLastIndex(({ queue }) => queue === GONG);
    const events = this.#events.slice(began + 1).filter(({ queue }) => queue !== BELL);
    this.#events = [];
    return events;
  }

  #take(events: readonly StoreEvent[]): void {
    this.#events.push(...events);
    if (events.some(({ queue }) => queue === BELL)) this.#onBell();
  }

  #strike(key: string, now: number): Promise<unknown> {
    return this.store.records.put({ kind: QUEUE_RECORD, key, value: '{}' }, { now });
  }

  async #hasHeard(key: string, now: number, deadlineMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const isHeard = new Promise<boolean>((resolve) => {
      this.#onBell = () => resolve(true);
      timer = setTimeout(() => resolve(false), deadlineMs);
    });
    await this.#strike(key, now);
    return isHeard.finally(() => clearTimeout(timer));
  }
}
