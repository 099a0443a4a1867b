/** Opens the isolates of a worker. Loaded only by workers that isolate their handlers. */
import type { AttemptRunner } from '../../worker/attempt/run-outcome.ts';
import { IsolatePool } from './isolate-pool.ts';
import type { IsolationPlan } from './isolation-plan.ts';
import { openProcessChannel } from './process-channel.ts';
import { runIsolated } from './run-isolated.ts';
import { openThreadChannel } from './thread-channel.ts';

export interface Isolation {
  readonly run: AttemptRunner;
  /** Kills all isolates at once. */
  kill(): void;
  /** Ends idle isolates. Resolves when none is left. */
  close(): Promise<void>;
}

/** Rejects with `bad-input` when the module cannot be used. */
export async function openIsolation({ module, isolate, maxJobs, maxBytes, host }: IsolationPlan): Promise<Isolation> {
  const pool = new IsolatePool({
    address: module.href,
    open: isolate === 'process' ? openProcessChannel : openThreadChannel,
    maxJobs,
    maxBytes,
    onTrouble: (what) => host.onTrouble(what, null),
  });
  const isolation: Isolation = {
    run: (job, context) => runIsolated({ ...host, pool }, job, context),
    kill: () => pool.kill(),
    close: () => pool.close(),
  };
  try {
    await pool.open();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return isolation;
}
