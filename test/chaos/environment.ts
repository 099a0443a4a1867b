/** Facts about the machine and the run that decide which faults are possible. */
import { hasCompiler } from '../support/preload-library.ts';

export type StoreName = 'sqlite' | 'redis';

/** What a fault needs of the machine or of the run. */
export type Need = 'compiler' | 'small disk' | 'redis' | 'sqlite';

export interface Abilities {
  readonly store: StoreName;
  /** Whether the data directory is on a small disk of its own. */
  readonly hasSmallDisk: boolean;
}

/** Returns why a need is not met; null if it is. */
export function whyNot(need: Need, { store, hasSmallDisk }: Abilities): string | null {
  if (need === 'compiler') return hasCompiler ? null : 'needs Linux and a C compiler (cc)';
  if (need === 'small disk') return hasSmallDisk ? null : 'needs root and loop devices to mount a small disk';
  return store === need ? null : `is for --store ${need}`;
}
