/** Finds the processes that have a file open, for the error of a caller that waited for its lock. */
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { LonghaulError } from '../../../core/ports/errors.ts';

/** `known`: pids that registered themselves in the file. */
export function lockedError(path: string, known: readonly number[], waitedMs: number): LonghaulError {
  const pids = [...new Set([...holdersOf(path), ...known])].filter((pid) => pid !== process.pid);
  const holder = pids.length === 0 ? 'another connection of this process' : `process ${pids.join(' or ')}`;
  return new LonghaulError(
    'store-unavailable',
    `${path} has been locked for ${waitedMs / 1000} s by ${holder}, which has it open; nothing was done`,
  );
}

/** Reads /proc, as far as its entries are readable. Empty where there is no /proc. */
function holdersOf(path: string): readonly number[] {
  const file = realpathSync(path);
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name) && holds(name, file))
    .map(Number);
}

function holds(pid: string, file: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return entries(folder).some((name) => {
    try {
      return readlinkSync(`${folder}/${name}`) === file;
    } catch {
      return false; // closed since it was listed
    }
  });
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // ended, or owned by another user
  }
}
