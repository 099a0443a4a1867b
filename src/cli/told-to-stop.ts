/** Ctrl-C and TERM as a signal for whoever waits. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Told {
  readonly signal: AbortSignal;
  release(): void;
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
