/**
 * The constants that the scripts take from core, written as Lua.
 *
 * Invariant: no text of a user ever stands in a script. Everything here is constant in this program.
 */

import { MAX_HISTORY, MAX_LATE_ROWS, MAX_NOTE_LENGTH, RESULT_PRUNED } from '../../../core/job/history.ts';
import { MAX_STEP_BYTES, MAX_STEPS, MAX_STEPS_BYTES, NEVER } from '../../../core/job/step.ts';
import { crashDelayMs } from '../../../core/lifecycle/backoff.ts';
import { CLAMP_MS, GAP_MS } from '../../../core/lifecycle/clock.ts';
import {
  DEPENDENCY_GROUP,
  MAX_DEPENDENTS,
  MAX_NAMED,
  MAX_PARENTS,
  MAX_WALKED,
} from '../../../core/lifecycle/dependencies.ts';
import { MAX_PRUNABLE_SCAN } from '../../../core/lifecycle/prunable.ts';
import { MAX_COALESCED } from '../../../core/limits/coalesce.ts';
import { MAX_NEEDS, NEEDS_ROTATION_MS, PATIENCE_MS } from '../../../core/limits/resources.ts';
import { MAX_EXPIRED, MAX_PARKED } from '../../../core/operations/claim.ts';
import { MAX_REBASED } from '../../../core/operations/clock-step.ts';
import { MAX_WAKES } from '../../../core/operations/limits/buckets.ts';
import { WORK_EVENTS } from '../../../core/ports/job-store.ts';
import {
  DEFAULT_SETTINGS,
  DRAFT_TTL_MS,
  UNREGISTERED_WORKER_TTL_MS,
  WORKER_TTL_MS,
} from '../../../core/settings/settings.ts';
import { SPAN_NAMES, SPANS } from '../../../core/statistics/series.ts';
import { MAX_CELLS, MAX_LOG_ENTRIES } from '../../../core/statistics/statistics.ts';
import { DEFAULT_PROGRESS_STEP, WEBHOOK_ID_PREFIX, WEBHOOKS_QUEUE } from '../../../core/webhooks/webhook.ts';
import { EVENT_LETTERS, PLACES, SPAN_LETTERS } from '../encoding/layout.ts';

/** From the twelfth crash on the delay no longer grows. */
const CRASH_DELAYS = Array.from({ length: 12 }, (_, index) => crashDelayMs(index + 1));

/** The settings that a store uses. */
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
  'storedLogs',
] as const;

const LUA_SPANS = SPAN_NAMES.map((span) => {
  const { ms, cells, slots } = SPANS[span];
  return { letter: SPAN_LETTERS[span], ms, cells, slots };
});

const MAX_ARGUMENTS = 4_000;
/** Jobs that one claim moves to the ready index. */
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
  MAX_EXPIRED,
  MAX_PARKED,
  MAX_PROMOTED,
  MAX_REBASED_PIECES: Math.ceil(MAX_REBASED / SEQS_PER_PIECE),
  MAX_COALESCED,
  PATIENCE_MS,
  NEEDS_ROTATION_MS,
  MAX_NEEDS,
  MAX_WAKES,
  DRAFT_TTL_MS,
  WORKER_TTL_MS,
  UNREGISTERED_WORKER_TTL_MS,
  // Maintenance deletes what expired WORKER_TTL_MS ago.
  UNREGISTERED_WORKER_EXPIRY_MS: UNREGISTERED_WORKER_TTL_MS - WORKER_TTL_MS,
  MAX_PARENTS,
  MAX_DEPENDENTS,
  MAX_WALKED,
  MAX_NAMED,
  MAX_PRUNABLE_SCAN,
  RESULT_PRUNED,
  DEFAULT_PROGRESS_STEP,
  WEBHOOKS_QUEUE,
  WEBHOOK_ID_PREFIX,
  DEPENDENCY_GROUP,
  NEVER,
  MAX_STEPS,
  MAX_STEP_BYTES,
  MAX_STEPS_BYTES,
  SEQS_PER_PIECE,
  MAX_ARGUMENTS,
};

/** Made when they are needed: the text runs in every call. */
const TABLES = {
  defaults: Object.fromEntries(STORE_SETTINGS.map((name) => [name, DEFAULT_SETTINGS[name]])),
  workEvents: Object.fromEntries(WORK_EVENTS.map((type) => [type, true])),
  crashDelays: CRASH_DELAYS,
};

/** Returns the constants that a text uses: `K.NAME`, and STATE, the state of a job by the first letter of its record. */
export function constantsText(text: string): string {
  const used = Object.entries(VALUES).filter(([name]) => new RegExp(`\\bK\\.${name}\\b`).test(text));
  const tables = Object.entries(TABLES).filter(([name]) => text.includes(`K.${name}()`));
  return [
    text.includes('STATE[') ? `local STATE = ${luaLiteral(PLACES)}\n` : '',
    text.includes('K.') ? `local K = ${luaLiteral(Object.fromEntries(used))}\n` : '',
    ...tables.map(([name, value]) => `function K.${name}() return ${luaLiteral(value)} end\n`),
  ].join('');
}

const { state, priority, leaseMs, retries, onLost, lostGraceMs } = DEFAULT_SETTINGS;
const { claimed, completed, failed, retried } = EVENT_LETTERS;

/**
 * Of the fast path and of the statistics. `MAX_JOBS`: of one call. `MAX_TIME`: eleven hexadecimal digits hold it. `DEFAULTS`:
 * the settings of a queue that the fast path knows.
 */
const FAST_PATH_VALUES = {
  MAX_JOBS: 1_000,
  MAX_TIME: 1e13,
  GAP_MS,
  MAX_HISTORY,
  MAX_NOTE_LENGTH,
  MAX_CELLS,
  MAX_LOG_ENTRIES,
  MAX_ARGUMENTS,
  MAX_PROMOTED,
  SEQS_PER_PIECE,
  SPANS: LUA_SPANS,
  DEFAULTS: { state, priority, leaseMs, retries, onLost, lostGraceMs },
  COMPLETED: completed,
  CLAIMED: claimed,
  FAILED: failed,
  RETRIED: retried,
};

/** Writes the constants in place of `FASTPATH.NAME`: a table of them would be made in every call. */
export function withFastPathConstants(text: string): string {
  return text.replace(/\bFASTPATH\.([A-Z_]+)/g, (_, name: keyof typeof FAST_PATH_VALUES) => {
    const value = FAST_PATH_VALUES[name];
    return typeof value === 'object' ? `(${luaLiteral(value)})` : luaLiteral(value);
  });
}

/** Returns a value as Lua. An entry that is null is left out, which is the same as nil. */
function luaLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(luaLiteral).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, entry]) => entry !== null);
  const keyOf = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : `[${JSON.stringify(name)}]`);
  return `{ ${entries.map(([name, entry]) => `${keyOf(name)} = ${luaLiteral(entry)}`).join(', ')} }`;
}
