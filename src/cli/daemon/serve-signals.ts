/**
 * What a running node is told from outside. The first TERM or Ctrl-C asks it to stop; the second ends it at once, which
 * is no more than a crash: scripts go on, and the next node takes them up. HUP takes up changed settings, unless it comes
 * because the terminal was closed: then it asks to stop.
 */
import { closeSync, openSync } from 'node:fs';

export type StopReason = { readonly kind: 'asked' } | { readonly kind: 'failed'; readonly error: unknown };

export interface Told {
  /** The node cannot go on. */
  fail(error: unknown): void;
  /** `reload` runs at each HUP, one after the other. */
  untilStop(reload: () => Promise<void>): Promise<StopReason>;
}

const FORCED = 1;

export function listenToSignals(): Told {
  let stop: (reason: StopReason) => void = () => undefined;
  const stopped = new Promise<StopReason>((resolve) => (stop = resolve));
  let isAsked = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (isAsked) process.exit(FORCED);
      isAsked = true;
      stop({ kind: 'asked' });
    });
  let reloading = Promise.resolve();
  let reload: () => Promise<void> = () => Promise.resolve();
  const isOnTerminal = process.stdout.isTTY;
  // From the start: until somebody listens to it, a HUP would end the process.
  process.on('SIGHUP', () => {
    if (isOnTerminal && !isTerminalThere()) stop({ kind: 'asked' });
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

/** A terminal that was closed cannot be opened any more. */
function isTerminalThere(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
