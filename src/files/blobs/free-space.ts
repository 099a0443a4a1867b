/** Checks the free space, before bytes are received and repeatedly while they arrive. */
import { statfs } from 'node:fs/promises';
import { LonghaulError } from '../../core/ports/errors.ts';

export interface FreeSpace {
  /** Throws `store-full` when `bytes` more would use up the reserve. */
  check(bytes: number): Promise<void>;
}

/**
 * `reserveBytes` stay free for operations that must never fail for lack of space: settling, deleting, the store itself.
 */
export function createFreeSpace(folder: string, reserveBytes: number): FreeSpace {
  return {
    check: async (bytes) => {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      if (free - bytes >= reserveBytes) return;
      throw new LonghaulError(
        'store-full',
        `no room for ${bytes} bytes of attachment: ${free} bytes are free and ${reserveBytes} are reserved`,
      );
    },
  };
}
