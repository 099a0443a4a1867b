/** A keeper on the main thread, for a store that can only be reached through this very object. */
import type { JobStore } from '../core/job-store.ts';
import type { Keeper, KeeperPlan, TellNews } from './keeper.ts';
import { LeaseBeats } from './lease-beats.ts';

export function openLocalKeeper(jobs: JobStore, plan: KeeperPlan, tell: TellNews): Keeper {
  const beats = new LeaseBeats({ plan, jobs, tell, kill: null });
  beats.start();
  return {
    say: (saying) => beats.say(saying),
    rename: (id) => beats.rename(id),
    close: () => beats.close(),
  };
}
