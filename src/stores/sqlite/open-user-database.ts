/** Opens a SQLite file that belongs to the user's own program, for the relay of an outbox. It is never created here. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { badInput } from '../../core/ports/errors.ts';

/** Other programs write to the file too. */
const BUSY_TIMEOUT_MS = 5_000;

export function openUserDatabase(path: string): InstanceType<typeof DatabaseSync> {
  if (!existsSync(path)) throw badInput('database', [{ path: '', message: `there is no file ${path}` }]);
  return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
}
