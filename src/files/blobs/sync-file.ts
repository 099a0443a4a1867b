/**
 * fsync, whose failure is final: the kernel may have dropped the data it could not write, and the next fsync succeeds.
 * A caller that gets `SyncFailed` discards the file.
 */
import type { FileHandle } from 'node:fs/promises';

export class SyncFailed extends Error {
  constructor(cause: unknown) {
    super('the content of a file did not reach the disk', { cause });
    this.name = 'SyncFailed';
  }
}

/** `content`: what is needed to read it back. `whole`: also its times and owner. */
export async function syncFile(handle: FileHandle, what: 'content' | 'whole'): Promise<void> {
  try {
    await (what === 'content' ? handle.datasync() : handle.sync());
  } catch (error) {
    throw new SyncFailed(error);
  }
}
