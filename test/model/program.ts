/**
 * Programs of port calls. The alphabets are tiny, so that things collide: three ids, two queues, two workers,
 * few priorities, and times that fall on the ends of leases and delays.
 *
 * A step names no token, no attempt and mostly no id: those are known only when the program runs, so it says which
 * one it means ("the second of those that run").
 */
import type {
  Cancel,
  ClaimRequest,
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  NewJob,
  Requeue,
} from '../../src/core/ports/job-store.ts';
import type { QueueSettings } from '../../src/core/settings/settings.ts';
import type { Said } from '../contract/workbench.ts';

export const QUEUES = ['x', 'y'] as const;
/** With the one that hooks write to; by name, as maintenance takes them. */
export const ALL_QUEUES = ['hooks', ...QUEUES] as const;
export const THROTTLES = ['t', 'u'] as const;
export const WORKERS = ['v', 'w'] as const;

/** Of the tokens that were given for a job: the latest, the one before; one of another job; one not yet given. */
export type Which = 'latest' | 'older' | 'other' | 'future';
/** Whether a caller names the attempt it saw: the present one, or one that is over. */
export type Seen = 'any' | 'present' | 'past';

/** The nth of the jobs for which the call is meant, or of all ids. Where none is fitting, of all ids. */
export interface Who {
  readonly of: 'fitting' | 'any';
  readonly nth: number;
}

/** Who is to be waited for, of all ids: also one that is not there, and the job itself. */
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
  | Calls<'settle', { readonly who: Who; readonly which: Which; readonly said: Said; readonly family?: Family }>
  | Calls<'cancel', Asked<Cancel>>
  | Calls<'requeue', Asked<Requeue>>
  | Calls<'move', Asked<Move>>
  | Calls<'change', Asked<JobChanges>>
  | (Omit<ClaimRequest, 'requestId'> & {
      readonly call: 'claim';
      /** Repeats the latest request of the worker. */
      readonly again: boolean;
    })
  | {
      readonly call: 'keepWorker';
      readonly worker: string;
      readonly kind: 'register' | 'renew';
      readonly leaseMs: number;
    }
  | { readonly call: 'endWorker'; readonly worker: string; readonly kind: 'fail' | 'deregister' }
  | { readonly call: 'maintain'; readonly limit: number }
  | { readonly call: 'throttle'; readonly name: string; readonly max: number | null }
  | { readonly call: 'settings'; readonly queue: string; readonly settings: Partial<QueueSettings> }
  | {
      readonly call: 'list';
      readonly query: Omit<JobQuery, 'after' | 'since' | 'before'>;
      /** From now on: of jobs that were created so long ago. */
      readonly sinceIn?: number;
      readonly beforeIn?: number;
    };

/** No store gets this far, and every store can keep it. */
export const FUTURE_TOKEN = 2 ** 40;

export interface TimedStep {
  /** How much time passes before it. */
  readonly wait: number;
  /** A call whose reply was lost is made again. */
  readonly times: number;
  readonly step: Step;
}
export type Program = readonly TimedStep[];

/** Over before anything is taken for a gap. */
export const BRIEF_MS = 1_500;
export const SHORT_MS = 10_000;
export const LONG_MS = 20_000;
const DAY_MS = 86_400_000;
const often = (times: number, wait: number): readonly number[] => Array<number>(times).fill(wait);
/** Ends of leases, back-offs and periods, and the moments around them. */
const WAITS = often(24, 0).concat(
  [1, BRIEF_MS, BRIEF_MS, SHORT_MS - 1, LONG_MS, 6 * SHORT_MS, DAY_MS, 8 * DAY_MS],
  often(5, SHORT_MS),
);
/** Below and above what is taken for a gap, and back: to be clamped, or to be believed. */
const GUARDED_WAITS = often(16, 0).concat(
  [1, 1_000, 2_000, 2_000, 2_001, SHORT_MS - 1, SHORT_MS, LONG_MS],
  often(4, BRIEF_MS),
  [-1, -SHORT_MS, -60_000, -60_001],
);

/** A step back too: what stood ready may then not be due. */
const LIMITED_WAITS = often(20, 0).concat([1, SHORT_MS, SHORT_MS, LONG_MS, -SHORT_MS]);

/** What programs are like. */
export interface Profile {
  readonly clock: 'caller' | 'guarded';
  readonly ids: readonly string[];
  readonly waits: readonly number[];
  /** Of maintenance. */
  readonly limits: readonly number[];
  readonly maxSteps: number;
  /** Of which steps, if not of any: jobs that wait for one another's slots, or jobs with hooks that wait for one another's calls. */
  readonly steps?: 'limited' | 'told';
}
const FEW = ['a', 'b', 'c'];
export const MANY = [...FEW, 'd', 'e', 'f', 'g', 'h'];
export const PROFILES = {
  'few jobs': { clock: 'caller', ids: FEW, waits: WAITS, limits: [0, 1, 2, 100, 100], maxSteps: 30 },
  'many jobs': { clock: 'caller', ids: MANY, waits: WAITS, limits: [1, 3, 100], maxSteps: 30 },
  /** A small limit would ask which of the leases that a gap prolonged come first. */
  "a clock like the store's own": { clock: 'guarded', ids: FEW, waits: GUARDED_WAITS, limits: [0, 100], maxSteps: 30 },
  'limited jobs': { clock: 'caller', ids: MANY, waits: LIMITED_WAITS, limits: [100], maxSteps: 24, steps: 'limited' },
  'jobs with hooks': { clock: 'caller', ids: FEW, waits: LIMITED_WAITS, limits: [100], maxSteps: 24, steps: 'told' },
} as const satisfies Readonly<Record<string, Profile>>;
