/** How a command that went wrong ends: words on stderr and an exit code; 0 ok, 1 refused, 2 bad usage or settings. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { noAccessWords } from '../../core/input/no-access.ts';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { UsageError } from '../table/command.ts';
import { remark } from './screen.ts';

/** The user's to correct, before anything can be tried again. */
const BAD_SETTINGS: ReadonlySet<ErrorCode> = new Set(['bad-input', 'store-incompatible']);

/** Never a stack for a mistake of the user or of the world; for a mistake of ours, when somebody asks for it. */
export function sayWhy(error: unknown): number {
  if (error instanceof UsageError) {
    remark(`longhaul: ${error.message}`);
    return 2;
  }
  if (error instanceof LonghaulError) {
    remark(`longhaul: ${error.message}`);
    return BAD_SETTINGS.has(error.code) ? 2 : 1;
  }
  remark(`longhaul: ${deniedWords(error) ?? (error instanceof Error ? error.message : String(error))}`);
  if (!isOfTheSystem(error)) remark('longhaul: this is a fault of Longhaul itself; LONGHAUL_DEBUG=1 shows where');
  if ((process.env['LONGHAUL_DEBUG'] ?? '') !== '' && error instanceof Error) remark(error.stack ?? '');
  return 1;
}

/** What to do about a folder that may not be written; null for every other error. */
function deniedWords(error: unknown): string | null {
  if (!isOfTheSystem(error) || !(error instanceof Error) || !('path' in error)) return null;
  const { code = '', path = '' } = error as NodeJS.ErrnoException;
  return noAccessWords(code, existsSync(path) ? path : dirname(path));
}

/** A file that may not be read, a disk that is full: the words of the system say enough. */
function isOfTheSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
