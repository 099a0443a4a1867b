/**
 * Programs of port calls. The alphabets are tiny, so that calls collide: three ids, two queues, two workers, few
 * priorities, and times that fall on the ends of leases and delays.
 *
 * A step names no token, no attempt and mostly no id: those are known only when the program runs. It describes which
 * one it means ("the second running job").
 */
import type { ThrottleSettings } from '../../src/core/limits/bucket.ts';
import type {
  Cancel,
  ClaimRequest,
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  NewJob,
  Notify,
  Requeue,
  StepWrite,
} from '../../src/core/ports/job-store.ts';
import type { QueueSettings } from '../../src/core/settings/settings.ts';
import type { Outcome } from '../contract/workbench.ts';

export const QUEUES = ['x', 'y'] as const;
/** With the queue of webhook jobs; by name, as maintenance processes them. */
export const ALL_QUEUES = ['hooks', ...QUEUES] as const;
export const THROTTLES = ['t', 'u'] as const;
export const WORKERS = ['v', 'w'] as const;

/** Of the tokens that were given for a job: the latest, or an older one; one of another job; one not yet given. */
export type Which = 'latest' | 'older' | 'other' | 'future';
/** Whether a caller names the attempt it saw: the present one, or a past one. */
export type Seen = 'any' | 'present' | 'past';

/** The nth of the jobs that suit the call, or of all ids. If none suits, of all ids. */
export interface Who {
  readonly of: 'fitting' | 'any';
  readonly nth: number;
}

/** The jobs to wait for, of all ids: may include a missing one and the job itself. */
export type Family = { readonly add?: readonly Who[]; readonly remove?: readonly Who[] };
type About<T> = Omit<T, 'id' | 'token' | 'attempt' | 'runAt' | 'dependsOn'> & {
  readonly who: Who;
  readonly runIn?: number;
  readonly family?: Family;
};
type Asked<T> = About<T> & { readonly seen: Seen };
type Calls<Name extends string, Item> = { readonly call: Name; readonly items: readonly Item[] };

export type Step =
  | Calls<'add', About<NewJob>>
  | Calls<'commit' | 'delete', { readonly who: Who }>
  | Calls<'heartbeat', About<Heartbeat> & { readonly which: Which }>
  | Calls<'settle', { readonly who: Who; readonly which: Which; readonly outcome: Outcome; readonly family?: Family }>
  | Calls<'keepSteps', About<StepWrite> & { readonly which: Which }>
  | Calls<'notify', About<Notify>>
  | Calls<'cancel', Asked<Cancel>>
  | Calls<'requeue', Asked<Requeue>>
  | Calls<'move', Asked<Move>>
  | Calls<'change', Asked<JobChanges>>
  | (Omit<ClaimRequest, 'requestId'> & {
      readonly call: 'claim';
      /** Repeats one of the remembered requests of the worker. */
      readonly again: false | 'latest' | 'earlier';
    })
  | {
      readonly call: 'keepWorker';
      readonly worker: string;
      readonly kind: 'register' | 'renew';
      readonly leaseMs: number;
    }
  | { readonly call: 'endWorker'; readonly worker: string; readonly kind: 'fail' | 'deregister' }
  | { readonly call: 'maintain'; readonly limit: number }
  | { readonly call: 'throttle'; readonly name: string; readonly limits: ThrottleSettings | null }
  | { readonly call: 'settings'; readonly queue: string; readonly settings: Partial<QueueSettings> }
  | {
      readonly call: 'list';
      readonly query: Omit<JobQuery, 'after' | 'since' | 'before'>;
      /** Relative to now: jobs that were created this long ago. */
      readonly sinceIn?: number;
      readonly beforeIn?: number;
    };

/** No store issues this token, and every store can hold it. */
export const FUTURE_TOKEN = 2 ** 40;

export interface TimedStep {
  /** How much time passes before the step. */
  readonly wait: number;
  /** A call whose reply was lost is repeated. */
  readonly times: number;
  readonly step: Step;
}
export type Program = readonly TimedStep[];

/** Over before a silence counts as a gap. */
export const BRIEF_MS = 1_500;
export const SHORT_MS = 10_000;
export const LONG_MS = 20_000;
const DAY_MS = 86_400_000;
const often = (times: number, wait: number): readonly number[] => Array<number>(times).fill(wait);
/** Ends of leases, backoffs and periods, and the moments around them. */
const WAITS = often(24, 0).concat(
  [1, BRIEF_MS, BRIEF_MS, SHORT_MS - 1, LONG_MS, 6 * SHORT_MS, DAY_MS, 8 * DAY_MS],
  often(5, SHORT_MS),
);
/** Below and above the length of a gap, and steps back: clamped or accepted. */
const GUARDED_WAITS = often(16, 0).concat(
  [1, 1_000, 2_000, 2_000, 2_001, SHORT_MS - 1, SHORT_MS, LONG_MS],
  often(4, BRIEF_MS),
  [-1, -SHORT_MS, -60_000, -60_001],
);

/** A step back too: ready jobs may then not be due. */
const LIMITED_WAITS = often(20, 0).concat([1, SHORT_MS, SHORT_MS, LONG_MS, -SHORT_MS]);

/** The character of programs. */
export interface Profile {
  readonly clock: 'caller' | 'guarded';
  readonly ids: readonly string[];
  readonly waits: readonly number[];
  /** The limit of maintenance calls. */
  readonly limits: readonly number[];
  readonly maxSteps: number;
  /**
   * Which steps, if not all: jobs that wait for one another's slots, or jobs with webhooks that wait for one another's
   * calls.
   */
  readonly steps?: 'limited' | 'webhooks';
}
const FEW = ['a', 'b', 'c'];
export const MANY = [...FEW, 'd', 'e', 'f', 'g', 'h'];
export const PROFILES = {
  'few jobs': { clock: 'caller', ids: FEW, waits: WAITS, limits: [0, 1, 2, 100, 100], maxSteps: 30 },
  'many jobs': { clock: 'caller', ids: MANY, waits: WAITS, limits: [1, 3, 100], maxSteps: 30 },
  /** With a small limit the order of leases that a gap prolonged would matter. */
  "a clock like the store's own": { clock: 'guarded', ids: FEW, waits: GUARDED_WAITS, limits: [0, 100], maxSteps: 30 },
  'limited jobs': { clock: 'caller', ids: MANY, waits: LIMITED_WAITS, limits: [100], maxSteps: 24, steps: 'limited' },
  'jobs with webhooks': {
    clock: 'caller',
    ids: FEW,
    waits: LIMITED_WAITS,
    limits: [100],
    maxSteps: 24,
    steps: 'webhooks',
  },
} as const satisfies Readonly<Record<string, Profile>>;
