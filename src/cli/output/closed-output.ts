/**
 * Detects that the reader of the output has closed the pipe, as in `longhaul ls | head -1`.
 *
 * A command that only prints ends early; a command that changes something runs to its end and prints no more. Either way
 * the store is closed as usual. Invariant: nothing here calls `process.exit`, because ending the process while the thread
 * of a SQLite store is inside its native code aborts the process (exit 134).
 */
const closing = new AbortController();

/** Aborted when standard output is closed. */
export const outputClosed: AbortSignal = closing.signal;

/** Watches both outputs of this process. Without it, a closed pipe ends the process as an unhandled error. */
export function watchOutputs(): void {
  process.stdout.on('error', (error) => closing.abort(error));
  // Messages to a closed stderr are dropped: the exit code still reports how the command ended.
  process.stderr.on('error', () => undefined);
}

/** Returns the error of a failed write, or null. A closed pipe is not an error: the reader has read enough. */
export function outputError(): Error | null {
  const reason: unknown = closing.signal.reason;
  if (!closing.signal.aborted || !(reason instanceof Error)) return null;
  return 'code' in reason && reason.code === 'EPIPE' ? null : reason;
}

/** Resolves when standard output accepts more data, or is closed. */
export async function outputDrained(): Promise<void> {
  if (outputClosed.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      process.stdout.off('drain', done);
      outputClosed.removeEventListener('abort', done);
      resolve();
    };
    process.stdout.once('drain', done);
    outputClosed.addEventListener('abort', done, { once: true });
  });
}
