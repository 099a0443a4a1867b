/** SIGINT (Ctrl-C) and SIGTERM as an AbortSignal. */
import { outputClosed } from '../output/closed-output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface StopListener {
  readonly signal: AbortSignal;
  release(): void;
}

/** For a command that only prints: a closed output stops it as well. */
export function listenForStopOrClosedOutput(): StopListener {
  const listener = listenForStop();
  return { ...listener, signal: AbortSignal.any([listener.signal, outputClosed]) };
}

export function listenForStop(): StopListener {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  for (const name of SIGNALS) process.on(name, stop);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, stop);
    },
  };
}
