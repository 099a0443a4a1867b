/**
 * The signals of a running node. The first SIGTERM or Ctrl-C shuts it down; the second ends it at once, like a crash:
 * scripts continue, and the next node adopts them. SIGHUP reloads the settings. If the terminal was closed, SIGHUP shuts
 * the node down instead.
 */
import { closeSync, openSync } from 'node:fs';

export type StopReason = { readonly kind: 'asked' } | { readonly kind: 'failed'; readonly error: unknown };

export interface NodeSignals {
  /** Stops the node because of an error. */
  fail(error: unknown): void;
  /** `reload` runs at each SIGHUP, one at a time. */
  untilStop(reload: () => Promise<void>): Promise<StopReason>;
}

const FORCED = 1;

export function listenToSignals(): NodeSignals {
  let stop: (reason: StopReason) => void = () => undefined;
  const stopped = new Promise<StopReason>((resolve) => (stop = resolve));
  let canAsk = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (canAsk) process.exit(FORCED);
      canAsk = true;
      stop({ kind: 'asked' });
    });
  let reloading = Promise.resolve();
  let reload: () => Promise<void> = () => Promise.resolve();
  const isOnTerminal = process.stdout.isTTY;
  // Registered at the start: without a listener, SIGHUP would end the process.
  process.on('SIGHUP', () => {
    if (isOnTerminal && !isTerminalOpen()) stop({ kind: 'asked' });
    else reloading = reloading.then(() => reload());
  });
  return {
    fail: (error) => stop({ kind: 'failed', error }),
    untilStop(given) {
      reload = given;
      return stopped;
    },
  };
}

/** A closed terminal cannot be opened any more. */
function isTerminalOpen(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
