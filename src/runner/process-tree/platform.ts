/** Which platforms can run scripts. Pure, apart from the facts that `thisPlatform` reads. */
import { existsSync } from 'node:fs';

export interface PlatformFacts {
  /** As `process.platform`: linux, darwin, win32 … */
  readonly system: string;
  readonly hasProc: boolean;
}

export function thisPlatform(): PlatformFacts {
  return { system: process.platform, hasProc: existsSync('/proc/self/stat') };
}

/** Returns why scripts cannot run here, with the remedy; null on Linux with /proc. */
export function platformProblem({ system, hasProc }: PlatformFacts): string | null {
  if (system !== 'linux')
    return `scripts need Linux, where /proc shows the processes to stop, and this is ${system}: use handlers (queue.work), or run the node on Linux`;
  return hasProc ? null : 'there is no /proc, so the processes of a script cannot be stopped: mount -t proc proc /proc';
}
