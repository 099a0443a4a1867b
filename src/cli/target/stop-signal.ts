/** Ctrl-C and TERM as a signal for whoever waits. */
import { outputClosed } from '../output/closed-output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Told {
  readonly signal: AbortSignal;
  release(): void;
}

/** For a command that only prints: a closed output ends it as well. */
export function toldToStopPrinting(): Told {
  const told = toldToStop();
  return { ...told, signal: AbortSignal.any([told.signal, outputClosed]) };
}

export function toldToStop(): Told {
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
