/** The arguments of the Records and LogStore ports over HTTP. */
import type { Check } from '../core/input/check.ts';
import { fields, integer, text } from '../core/input/check.ts';
import { jobId } from '../core/job/names.ts';
import type { LogAppend, LogQuery } from '../core/ports/log-store.ts';
import { MAX_LOG_APPEND } from '../core/ports/log-store.ts';
import { ms, whole } from './port-checks.ts';

const kind = text({ max: 64, pattern: /^[a-z][a-z0-9-]*$/, must: 'must be a word of a-z 0-9 -' });
const key = text({ max: 1_024 });
const MAX_VALUE = 1024 * 1024;

export const RECORD_CHECKS = {
  get: fields({ kind, key }),
  put: fields({ kind, key, value: text({ max: MAX_VALUE }) }, { ifVersion: whole, expiresAt: ms }),
  list: fields({ kind, limit: integer(0, 10_000) }, { prefix: key, after: key }),
  delete: fields({ kind, key }, { ifVersion: whole }),
};
export type RecordCallName = keyof typeof RECORD_CHECKS;

const MAX_ATTEMPT = 1_000_000_000;

export const LOG_CHECKS: { readonly append: Check<LogAppend>; readonly read: Check<LogQuery> } = {
  append: fields(
    { id: jobId, token: whole, offset: whole, text: text({ max: MAX_LOG_APPEND }) },
    { gap: fields({ from: ms, to: ms }) },
  ),
  read: fields({ id: jobId, attempt: integer(1, MAX_ATTEMPT), from: whole }),
};
