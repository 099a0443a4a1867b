/** Who has a file open, so that somebody who waits for it can be told. */
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { LonghaulError } from '../../../core/ports/errors.ts';

/** `known`: processes that said so themselves. */
export function lockedError(path: string, known: readonly number[], waitedMs: number): LonghaulError {
  const pids = [...new Set([...holdersOf(path), ...known])].filter((pid) => pid !== process.pid);
  const who = pids.length === 0 ? 'another connection of this process' : `process ${pids.join(' or ')}`;
  return new LonghaulError(
    'store-unavailable',
    `${path} has been locked for ${waitedMs / 1000} s by ${who}, which has it open; nothing was done`,
  );
}

/** As /proc tells, of the processes that we may look into. Empty where there is no /proc. */
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
    return []; // gone, or somebody else's
  }
}
