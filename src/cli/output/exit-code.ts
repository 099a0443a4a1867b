/** Maps an error to a message on stderr and an exit code: 1 refused, 2 bad usage or settings. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { accessErrorMessage } from '../../core/input/no-access.ts';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { UsageError } from '../table/command.ts';
import { printNotice } from './screen.ts';

/** Errors that the user must correct before a retry can succeed. */
const BAD_SETTINGS: ReadonlySet<ErrorCode> = new Set(['bad-input', 'store-incompatible']);

/**
 * Prints the error and returns the exit code. Errors of the user and of the system have no stack trace. An internal
 * error has one with LONGHAUL_DEBUG=1.
 */
export function reportError(error: unknown): number {
  if (error instanceof UsageError) {
    printNotice(`longhaul: ${error.message}`);
    return 2;
  }
  if (error instanceof LonghaulError) {
    printNotice(`longhaul: ${error.message}`);
    return BAD_SETTINGS.has(error.code) ? 2 : 1;
  }
  printNotice(`longhaul: ${accessHint(error) ?? (error instanceof Error ? error.message : String(error))}`);
  if (!isSystemError(error))
    printNotice('longhaul: internal error: run the command again with LONGHAUL_DEBUG=1 for a stack trace');
  if ((process.env['LONGHAUL_DEBUG'] ?? '') !== '' && error instanceof Error) printNotice(error.stack ?? '');
  return 1;
}

/** Returns what to do about a path without access rights; null for every other error. */
function accessHint(error: unknown): string | null {
  if (!isSystemError(error) || !(error instanceof Error) || !('path' in error)) return null;
  const { code = '', path = '' } = error as NodeJS.ErrnoException;
  return accessErrorMessage(code, existsSync(path) ? path : dirname(path));
}

/** An error of the operating system, such as a full disk: its own message is sufficient. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
