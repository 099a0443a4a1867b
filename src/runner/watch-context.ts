/** What watching an attempt needs: which one it is, and those who do for all of them at once. A contract alone. */
import type { Attempt, WatchOptions } from './attempt.ts';
import type { OnDisk } from './disk-watch.ts';
import type { LetGo } from './shim-pool.ts';

export interface WatchContext extends WatchOptions {
  readonly folder: string;
  /** Whether there is anything to be taken up from an earlier watch. */
  readonly isAdopted: boolean;
  readonly spared: ReadonlySet<number>;
  readonly cgroup: string | null;
  letGo: LetGo;
  /** Whether another attempt that was begun here leads that session, itself or through its shim. */
  isElsewhere(session: number, asking: Attempt): boolean;
  /** How often the kernel ran out of memory so far, give or take a second. */
  countOomKills(): number | null;
  /** Looks at the disk of an attempt now. */
  lookAtDisk(log: OnDisk): void;
  /** Nothing of it is left in its control group. */
  releaseCgroup(path: string): void;
  onTrouble(what: string, error: unknown): void;
}
