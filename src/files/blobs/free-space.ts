/** Whether there is room for more. Asked before bytes are taken in and again and again while they come. */
import { statfs } from 'node:fs/promises';
import { LonghaulError } from '../../core/ports/errors.ts';

export interface FreeSpace {
  /** Throws `store-full` when `bytes` more would eat into the reserve. */
  check(bytes: number): Promise<void>;
}

/** `reserveBytes` stay free for what must never fail for want of space: settling, deleting, the store itself. */
export function createFreeSpace(folder: string, reserveBytes: number): FreeSpace {
  return {
    check: async (bytes) => {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      if (free - bytes >= reserveBytes) return;
      throw new LonghaulError(
        'store-full',
        `there is no room for ${bytes} bytes of attachment: ${free} are free and ${reserveBytes} are kept in reserve`,
      );
    },
  };
}
