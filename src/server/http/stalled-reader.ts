/**
 * Drops a reader that takes nothing any more of an answer that is under way: whoever asks and does not read must not
 * hold a connection, a file or a buffer for ever.
 */
import type { ServerResponse } from 'node:http';

const LOOK_EVERY_MS = 30_000;

/** Looks until the answer is out. Nothing taken between two looks, with something left to take: dropped. */
export function dropWhenStalled(response: ServerResponse, everyMs: number = LOOK_EVERY_MS): void {
  let before = takenOf(response);
  const timer = setInterval(() => {
    const taken = takenOf(response);
    if (taken === before && response.writableLength > 0) response.destroy();
    before = taken;
  }, everyMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}

/** Bytes that have left this process. */
function takenOf({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
