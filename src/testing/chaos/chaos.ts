/**
 * `chaos(handler, options)`: runs a handler with a fault at each of its points, and reports side effects that happened
 * more often, or less often, than without faults.
 *
 * The first run has no fault: it shows the points and how often each effect is expected. Then each fault hits each point
 * once, alone; then come rounds with several faults, drawn from a seed. The runs follow each other.
 */
import type { Check } from '../../core/input/check.ts';
import { anything, checked, duration, integer, listOf, mapOf, object, oneOf, text } from '../../core/input/check.ts';
import type { Duration } from '../../core/input/duration.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Handler, SettingsInput } from '../../library/index.ts';
import { newSeed, seededRandom } from '../seeded-random.ts';
import type { ChaosFault, PlannedFault, RunPlan, RunResult } from './chaos-run.ts';
import { FAULTS, runOnce } from './chaos-run.ts';

/** Options of `chaos`. */
export interface ChaosOptions<Data = unknown> {
  /** The data of the job. Default null. */
  data?: Data;
  /** The faults to inject. Default: all. */
  faults?: readonly ChaosFault[];
  /** How many rounds with two or three faults follow. Default 20. */
  rounds?: number;
  /** Decides the faults of the rounds. Default: a new one, which every finding names. */
  seed?: number;
  /** Effects that may happen more than once. */
  mayRepeat?: readonly string[];
  /** Settings of the queue, such as `{ retries: 3 }`. */
  settings?: SettingsInput;
  /** The data of events, by name, which are sent when the handler waits for them. */
  events?: Readonly<Record<string, unknown>>;
  /** Handlers of the queues to which the handler adds jobs. They run without faults. */
  queues?: Readonly<Record<string, Handler>>;
  /** Called before each run: resets what the fakes of the test remember. */
  prepare?: () => void | Promise<void>;
  /** How long one run may take. Default 10 s. */
  timeout?: Duration;
  /** Only runs whose faults contain this text, as a finding shows them. */
  only?: string;
}

/** A run with faults that went wrong. */
export interface ChaosFinding {
  /** `repeated`: an effect happened too often. `missing`: too rarely. `failed`, `stuck`: the job did not end well. */
  readonly kind: 'repeated' | 'missing' | 'failed' | 'stuck';
  /** The effect; null for `failed` and `stuck`. */
  readonly effect: string | null;
  /** The faults of the run: `kill after step charge`. */
  readonly faults: string;
  /** What went wrong, and how to repeat the run. */
  readonly message: string;
}

/** The result of `chaos`. */
export interface ChaosReport {
  /** The seed of the rounds. */
  readonly seed: number;
  /** How many runs there were, the one without faults included. */
  readonly runs: number;
  /** The points that the run without faults passed. */
  readonly points: readonly string[];
  /** How often each effect happened in the run without faults. */
  readonly effects: Readonly<Record<string, number>>;
  /** Effects that happened more often in at least one run, in order of their names. */
  readonly repeated: readonly string[];
  /** What went wrong, run by run. */
  readonly findings: readonly ChaosFinding[];
}

const TIMEOUT_MS = 10_000;
const ROUNDS = 20;
const MAX_NAMES = 1_000;

const aFunction: Check<unknown> = (value, report, path) =>
  typeof value === 'function' ? value : report(path, 'must be a function');
const name = text({ max: 1_000 });
const shape = object({
  data: anything,
  faults: listOf(oneOf(...FAULTS), FAULTS.length),
  rounds: integer(0, 100_000),
  seed: integer(0, 2 ** 32 - 1),
  mayRepeat: listOf(name, MAX_NAMES),
  settings: anything,
  events: mapOf(anything, MAX_NAMES),
  queues: mapOf(aFunction, MAX_NAMES),
  prepare: aFunction,
  timeout: duration(1),
  only: name,
});

/**
 * Kills, freezes, repeats and interrupts a handler around each step and each `effect`. Rejects if the handler fails
 * without faults.
 *
 *     const { findings } = await chaos(handler, { data: { order: 7 } });
 *     expect(findings).toEqual([]);
 */
export async function chaos<Data, Result>(
  handler: Handler<Data, Result>,
  options: ChaosOptions<Data> = {},
): Promise<ChaosReport> {
  checked('chaos(handler, options)', { handler }, object({ handler: aFunction }));
  const given = checked('chaos options', options, shape);
  const { seed = newSeed(), rounds = ROUNDS, faults = FAULTS, mayRepeat = [], only = '' } = given;
  const plan: RunPlan<Data> = {
    handler,
    data: (options.data ?? null) as Data,
    settings: options.settings ?? {},
    events: options.events ?? {},
    queues: options.queues ?? {},
    timeoutMs: given.timeout ?? TIMEOUT_MS,
  };
  await options.prepare?.();
  const calm = await runOnce(plan, []);
  if (calm.problem !== null) throw new LonghaulError('bad-input', `chaos: without faults, ${calm.problem}`);
  const all = [...single(faults, calm.points), ...drawRounds(faults, calm.points, { rounds, seed })];
  const cases = all.filter((each) => textOf(each).includes(only));
  const findings: ChaosFinding[] = [];
  for (const each of cases) {
    await options.prepare?.();
    const repeat = `chaos(handler, { seed: ${seed}, only: ${JSON.stringify(textOf(each))} })`;
    const result = await runOnce(plan, each);
    findings.push(...compare(calm, result, { faults: textOf(each), repeat, mayRepeat }));
  }
  const twice = findings.flatMap(({ kind, effect }) => (kind === 'repeated' && effect !== null ? [effect] : []));
  return {
    seed,
    runs: cases.length + 1,
    points: calm.points,
    effects: Object.fromEntries(calm.effects),
    repeated: [...new Set(twice)].sort(),
    findings,
  };
}

/** Each fault at each point. */
function single(faults: readonly ChaosFault[], points: readonly string[]): readonly PlannedFault[][] {
  return points.flatMap((point) => faults.map((fault) => [{ fault, point }]));
}

interface Rounds {
  readonly rounds: number;
  readonly seed: number;
}

/** Draws rounds of two or three faults. A later attempt passes the points again, so the later faults may hit it. */
function drawRounds(
  faults: readonly ChaosFault[],
  points: readonly string[],
  { rounds, seed }: Rounds,
): readonly PlannedFault[][] {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const draw = (number: number): PlannedFault => {
    const point = pick(points);
    const isLater = number > 0 && random() < 0.5 && !point.endsWith(')');
    return { fault: pick(faults), point: isLater ? `${point} (${number + 1})` : point };
  };
  if (faults.length === 0) return [];
  return Array.from({ length: rounds }, () =>
    Array.from({ length: random() < 0.5 ? 2 : 3 }, (_, number) => draw(number)),
  );
}

function textOf(faults: readonly PlannedFault[]): string {
  return faults
    .map(({ fault, point }) => `${fault} ${/^(?:start|end)/.test(point) ? `at ${point}` : point}`)
    .join(', then ');
}

interface CaseText {
  readonly faults: string;
  readonly repeat: string;
  readonly mayRepeat: readonly string[];
}

/** Compares a run with the one without faults. */
function compare(calm: RunResult, result: RunResult, { faults, repeat, mayRepeat }: CaseText): readonly ChaosFinding[] {
  const finding = (kind: ChaosFinding['kind'], effect: string | null, what: string): ChaosFinding => ({
    kind,
    effect,
    faults,
    message: `${faults}: ${what}; repeat with ${repeat}`,
  });
  const findings: ChaosFinding[] = [];
  for (const effect of new Set([...calm.effects.keys(), ...result.effects.keys()])) {
    const [expected, happened] = [calm.effects.get(effect) ?? 0, result.effects.get(effect) ?? 0];
    const what = `effect ${JSON.stringify(effect)} happened ${times(happened)}, without faults ${times(expected)}`;
    if (happened > expected && !mayRepeat.includes(effect)) findings.push(finding('repeated', effect, what));
    if (happened < expected && result.state === 'done') findings.push(finding('missing', effect, what));
  }
  if (result.problem !== null) findings.push(finding(result.state === null ? 'stuck' : 'failed', null, result.problem));
  return findings;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
