/** The arguments of the Records port over HTTP. */
import { fields, integer, text } from '../core/input/check.ts';
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
