/** Sweeps the files of deleted jobs while a worker runs. Most connections have no files, and their sweeps do nothing. */
import type { FilePlace } from './file-place.ts';

/** The place decides whether a sweep is due; this is only how often it is asked. */
const ASK_INTERVAL_MS = 600_000;

export function startFileSweeps(files: FilePlace, onTrouble: (error: unknown) => void): { stop(): Promise<void> } {
  const stopped = new AbortController();
  let sweeping: Promise<void> = Promise.resolve();
  const sweep = (): void => {
    sweeping = sweeping
      .then(() => (stopped.signal.aborted ? undefined : files.sweep(stopped.signal)))
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) onTrouble(error);
      });
  };
  const timer = setInterval(sweep, ASK_INTERVAL_MS);
  sweep();
  return {
    async stop() {
      clearInterval(timer);
      stopped.abort();
      await sweeping;
    },
  };
}
