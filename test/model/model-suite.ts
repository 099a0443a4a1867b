/**
 * The model suite: random programs of calls on a store, compared with the model. A store is emptied between programs
 * rather than opened again. A store that disagreed is discarded, so that a program is shrunk on fresh stores.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { StoreEvent } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD } from '../../src/core/settings/settings.ts';
import type { OpenStore } from '../contract/contract.ts';
import { START } from '../contract/workbench.ts';
import { testSize } from '../support/test-size.ts';
import { Differential, Disagreement } from './differential.ts';
import { aProgram } from './draw-program.ts';
import { PROFILES, type Profile, type Program } from './program.ts';

type ProfileName = keyof typeof PROFILES;

/** At the small size, 1,333 for each store. */
const PROGRAMS: Readonly<Record<ProfileName, number>> = {
  'few jobs': testSize({ small: 507, full: 10_000 }),
  'many jobs': testSize({ small: 280, full: 5_000 }),
  "a clock like the store's own": testSize({ small: 170, full: 5_000 }),
  'limited jobs': testSize({ small: 230, full: 10_000 }),
  'jobs with webhooks': testSize({ small: 146, full: 5_000 }),
};
/** The same programs in every small run, and others in every full run. */
const SEED = testSize({ small: 20_261_115, full: Date.now() % 0x7fffffff });
const TIMEOUT_MS = testSize({ small: 600_000, full: 3_600_000 });
/** Between two programs, so that no effect of one reaches the other. */
const PAUSE_MS = 1_000_000_000;

export interface SuiteOptions {
  /** Default: all of them. */
  readonly profiles?: readonly ProfileName[];
  /** Share of the usual number of programs, for a store with slow calls. */
  readonly share?: number;
  /** Progress that changed nothing need not reach other processes; progress events are then not compared. */
  readonly ignoresProgress?: boolean;
}

export function modelSuite(name: string, open: OpenStore, options: SuiteOptions = {}): void {
  const { profiles = Object.keys(PROFILES) as ProfileName[] } = options;
  describe.each([name])('%s', () => {
    it.each(profiles)(
      'agrees with the model in every program: %s',
      (profile) => holdAgainstModel(open, profile, options),
      TIMEOUT_MS,
    );
  });
}

async function holdAgainstModel(open: OpenStore, profile: ProfileName, options: SuiteOptions): Promise<void> {
  const { share = 1, ignoresProgress = false } = options;
  const runner = new ProgramRunner(open, { profile: PROFILES[profile], ignoresProgress });
  const seed = Number(process.env['LONGHAUL_SEED'] ?? SEED);
  const property = fc.asyncProperty(aProgram(PROFILES[profile]), (program) => runner.run(program));
  try {
    const outcome = await fc.check(property, { numRuns: Math.round(PROGRAMS[profile] * share), seed });
    if (outcome.failed) throw new Error(report(outcome, profile, seed));
  } finally {
    await runner.close();
  }
}

function report(outcome: fc.RunDetails<[Program]>, profile: string, seed: number): string {
  const [program] = outcome.counterexample ?? [[]];
  const why = outcome.errorInstance instanceof Error ? outcome.errorInstance.message : String(outcome.errorInstance);
  const runs = `program ${outcome.numRuns}, shrunk ${outcome.numShrinks} times, LONGHAUL_SEED=${seed}`;
  return `${why}\n\n${runs}, profile: ${profile}\n\n${asCode(program ?? [])}`;
}

/** A program as source code. */
function asCode(program: Program): string {
  const lines = program.map((step) => `  ${JSON.stringify(step).replaceAll(/"([A-Za-z_]\w*)":/g, '$1: ')},`);
  return `const program: Program = [\n${lines.join('\n')}\n];`;
}

/** A store on which programs run one after another. */
class ProgramRunner {
  readonly #open: OpenStore;
  readonly #profile: Profile;
  readonly #hasArrived: (event: StoreEvent) => boolean;
  #now = START;
  #recorder: EventRecorder | undefined;

  constructor(open: OpenStore, { profile, ignoresProgress }: { profile: Profile; ignoresProgress: boolean }) {
    this.#open = open;
    this.#profile = profile;
    // A store emits `freed` where a job was parked, and parking is internal to a store.
    this.#hasArrived = ({ type }) => type !== 'freed' && (!ignoresProgress || type !== 'progress');
  }

  async run(program: Program): Promise<void> {
    this.#recorder ??= await EventRecorder.open(await this.#open({ clock: this.#profile.clock }), this.#now);
    await this.#recorder.begin(this.#now);
    const differential = new Differential(this.#recorder.store, this.#profile, this.#now);
    try {
      await differential.run(program);
      const received = await this.#recorder.received(differential.now);
      compareEvents(differential.expectedEvents.filter(this.#hasArrived), received.filter(this.#hasArrived));
      await differential.clear();
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#now = Math.max(this.#now, differential.now) + PAUSE_MS;
  }

  async close(): Promise<void> {
    const recorder = this.#recorder;
    this.#recorder = undefined;
    await recorder?.store.close();
  }
}

/** A global setting emits an event for each queue that the store knows, including those of earlier programs. */
function withoutRepeats(received: readonly StoreEvent[]): readonly StoreEvent[] {
  let isEcho = false;
  return received.filter(({ type, queue }) => {
    isEcho = type === 'queue' && (queue === GLOBAL_SETTINGS_KEY || isEcho);
    return !isEcho || queue === GLOBAL_SETTINGS_KEY;
  });
}

function compareEvents(expected: readonly StoreEvent[], received: readonly StoreEvent[]): void {
  const textOf = (events: readonly StoreEvent[]): string =>
    withoutRepeats(events)
      .map(({ type, id, queue, state }) => `${type} ${id}@${queue} ${state}`)
      .join(', ');
  if (textOf(expected) === textOf(received)) return;
  throw new Disagreement(`the events\n  expected ${textOf(expected)}\n  received ${textOf(received)}`);
}

const START_MARKER = 'start-marker';
const END_MARKER = 'end-marker';
const DEADLINE_MS = 10_000;
const PROBE_MS = 100;

/** A store with a subscriber. Two marker events delimit the events of a program. */
class EventRecorder {
  readonly store: Store;
  #events: StoreEvent[] = [];
  #onEndMarker: () => void = () => undefined;

  private constructor(store: Store) {
    this.store = store;
  }

  static async open(store: Store, now: number): Promise<EventRecorder> {
    const recorder = new EventRecorder(store);
    store.jobs.subscribe((events) => recorder.#take(events));
    // A subscription may take a moment to become active.
    for (const end = Date.now() + DEADLINE_MS; ; ) {
      if (await recorder.#hasArrived(END_MARKER, now, PROBE_MS)) return recorder;
      if (Date.now() > end) throw new Error('the store emitted no event');
    }
  }

  /** Events from here on belong to the next program. */
  begin(now: number): Promise<unknown> {
    return this.#mark(START_MARKER, now);
  }

  /** Returns all events since the program began. */
  async received(now: number): Promise<readonly StoreEvent[]> {
    if (!(await this.#hasArrived(END_MARKER, now, DEADLINE_MS))) throw new Disagreement('events no longer arrive');
    const began = this.#events.findLastIndex(({ queue }) => queue === START_MARKER);
    const events = this.#events.slice(began + 1).filter(({ queue }) => queue !== END_MARKER);
    this.#events = [];
    return events;
  }

  #take(events: readonly StoreEvent[]): void {
    this.#events.push(...events);
    if (events.some(({ queue }) => queue === END_MARKER)) this.#onEndMarker();
  }

  #mark(key: string, now: number): Promise<unknown> {
    return this.store.records.put({ kind: QUEUE_RECORD, key, value: '{}' }, { now });
  }

  async #hasArrived(key: string, now: number, deadlineMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const hasArrived = new Promise<boolean>((resolve) => {
      this.#onEndMarker = () => resolve(true);
      timer = setTimeout(() => resolve(false), deadlineMs);
    });
    await this.#mark(key, now);
    return hasArrived.finally(() => clearTimeout(timer));
  }
}
