/**
 * What the scripts take from core: defaults and limits, written as Lua before the prelude.
 *
 * Invariant: no text of a user ever stands in a script. Everything here is constant in this program.
 */

import { MAX_HISTORY, MAX_LATE_ROWS, MAX_NOTE_LENGTH, RESULT_PRUNED } from '../../../core/job/history.ts';
import { crashDelayMs } from '../../../core/lifecycle/backoff.ts';
import { CLAMP_MS, GAP_MS } from '../../../core/lifecycle/clock.ts';
import { MAX_DEPENDENTS, MAX_PARENTS, MAX_WALKED } from '../../../core/lifecycle/dependencies.ts';
import { MAX_PRUNABLE_SCAN } from '../../../core/lifecycle/prunable.ts';
import { MAX_COALESCED } from '../../../core/limits/coalesce.ts';
import { MAX_NEEDS, NEEDS_ROTATION_MS, PATIENCE_MS } from '../../../core/limits/resources.ts';
import { MAX_EXPIRED, MAX_PARKED } from '../../../core/operations/claim.ts';
import { MAX_REBASED } from '../../../core/operations/clock-step.ts';
import { WORK_EVENTS } from '../../../core/ports/job-store.ts';
import {
  DEFAULT_SETTINGS,
  DRAFT_TTL_MS,
  UNREGISTERED_WORKER_TTL_MS,
  WORKER_TTL_MS,
} from '../../../core/settings/settings.ts';
import { SPAN_NAMES, SPANS } from '../../../core/statistics/series.ts';
import { MAX_CELLS } from '../../../core/statistics/statistics.ts';
import { DEFAULT_PROGRESS_STEP } from '../../../core/webhooks/webhook.ts';
import { EVENT_LETTERS, PLACES, SPAN_LETTERS } from '../encoding/layout.ts';

/** From the twelfth crash on the delay no longer grows. */
const CRASH_DELAYS = Array.from({ length: 12 }, (_, index) => crashDelayMs(index + 1));

/** Only the settings that a store goes by. They are made when they are needed: this text runs in every call. */
const STORE_SETTINGS = [
  'state',
  'priority',
  'leaseMs',
  'retries',
  'maxResends',
  'maxCrashes',
  'onLost',
  'lostCountsAs',
  'lostGraceMs',
  'exhaustedGroup',
  'onDependencyFailed',
  'retention',
  'statsDays',
  'histogramDays',
  'maxRunning',
  'keys',
  'coalesce',
  'throttles',
  'rate',
  'hooks',
  'needs',
] as const;

const LUA_SPANS = SPAN_NAMES.map((span) => {
  const { ms, cells, slots } = SPANS[span];
  return { letter: SPAN_LETTERS[span], ms, cells, slots };
});

const MAX_ARGUMENTS = 4_000;
/** Jobs that one claim moves from those that wait for their time to the ready ones. */
const MAX_PROMOTED = 5_000;
/** Seqs in one piece of the index by insertion. */
const SEQS_PER_PIECE = 64;

const VALUES = {
  EVENT: EVENT_LETTERS,
  GAP_MS,
  CLAMP_MS,
  MAX_HISTORY,
  MAX_LATE_ROWS,
  MAX_NOTE_LENGTH,
  MAX_OVERTAKEN: MAX_EXPIRED,
  MAX_PARKED,
  MAX_PROMOTED,
  REBASED_PIECES: Math.ceil(MAX_REBASED / SEQS_PER_PIECE),
  MAX_FOLDED: MAX_COALESCED,
  PATIENCE_MS,
  LOOK_MS: NEEDS_ROTATION_MS,
  MOST_NEEDS: MAX_NEEDS,
  DRAFT_LIFE_MS: DRAFT_TTL_MS,
  WORKER_MEMORY_MS: WORKER_TTL_MS,
  STRANGER_MEMORY_MS: UNREGISTERED_WORKER_TTL_MS,
  // What is said to expire is looked at so much later.
  STRANGER_EXPIRY_MS: UNREGISTERED_WORKER_TTL_MS - WORKER_TTL_MS,
  MAX_PARENTS,
  MAX_DEPENDENTS,
  MAX_WALKED,
  MAX_NAMED: 10,
  MOST_LOOKED_AT: MAX_PRUNABLE_SCAN,
  RESULT_PRUNED,
  HOOK_EVERY: DEFAULT_PROGRESS_STEP,
  SEQS_PER_PIECE,
  MAX_ARGUMENTS,
};

/** Made when they are needed: the text runs in every call. */
const TABLES = {
  defaults: Object.fromEntries(STORE_SETTINGS.map((name) => [name, DEFAULT_SETTINGS[name]])),
  spans: LUA_SPANS,
  workEvents: Object.fromEntries(WORK_EVENTS.map((type) => [type, true])),
  crashDelays: CRASH_DELAYS,
};

/** The constants that a text uses, as `K.NAME`, and STATE, the state of a job by the first letter of its record. */
export function constantsText(text: string): string {
  const used = Object.entries(VALUES).filter(([name]) => new RegExp(`\\bK\\.${name}\\b`).test(text));
  const tables = Object.entries(TABLES).filter(([name]) => text.includes(`K.${name}()`));
  return [
    `local STATE = ${luaLiteral(PLACES)}\n`,
    `local K = ${luaLiteral(Object.fromEntries(used))}\n`,
    ...tables.map(([name, value]) => `function K.${name}() return ${luaLiteral(value)} end\n`),
  ].join('');
}

/** What the fast path (lua/lib/fastpath.lua) and lua/lib/tally.lua need. `MAX_JOBS`: of one call. `MAX_TIME`: any clock. */
const FAST_PATH_VALUES = {
  MAX_JOBS: 1_000,
  MAX_TIME: 1e13,
  ...{ GAP_MS, MAX_HISTORY, MAX_NOTE_LENGTH, MAX_CELLS, MAX_ARGUMENTS, MAX_PROMOTED, SEQS_PER_PIECE },
  SPANS: LUA_SPANS,
  EVENT: (({ claimed, completed, failed, retried }) => ({ claimed, completed, failed, retried }))(EVENT_LETTERS),
};

/** Constants that are made before the fast path runs, and defaults of the settings that it knows. */
export function fastPathConstants(text: string): string {
  const { state, priority, leaseMs, retries, onLost, lostGraceMs } = DEFAULT_SETTINGS;
  const used = Object.entries(FAST_PATH_VALUES).filter(([name]) => text.includes(`FASTPATH.${name}`));
  const values = { state, priority, leaseMs, retries, onLost, lostGraceMs, ...Object.fromEntries(used) };
  return `local FASTPATH = ${luaLiteral(values)}\n`;
}

/** Null becomes nil: an entry that is not there. */
function luaLiteral(value: unknown): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return `{ ${value.map(luaLiteral).join(', ')} }`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, entry]) => `[${JSON.stringify(name)}] = ${luaLiteral(entry)}`);
  return `{ ${entries.join(', ')} }`;
}
