/**
 * The runner: starts attempts, watches them, and takes up those that an earlier process started.
 *
 * It knows no queue, no job and no store: it is given folders, commands and environments, and answers facts. When it
 * stops, or is killed, everything it started goes on; whoever opens a runner next adopts it by its folder.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { type Adoption, adopt } from './attempt/adopt.ts';
import type { Attempt, WatchOptions } from './attempt/attempt.ts';
import { Roster } from './attempt/attempt-watcher.ts';
import { fits, type Order, type Tools, toShimOrder } from './attempt/start-order.ts';
import { type RunnerHealth, RunnerLink, type SpawnAnswer } from './process/runner-link.ts';
import { openCgroups } from './process-tree/cgroups.ts';
import { bootIdentity } from './process-tree/process-stat.ts';

export type StartAnswer =
  | { readonly ok: true; readonly attempt: Attempt }
  /** Nothing was started, and nothing will be: the folder cannot be used again. */
  | { readonly ok: false; readonly reason: 'refused' | 'lost'; readonly message: string };

export type AdoptAnswer =
  | { readonly state: 'never-started' }
  /** Its `end` comes at once for one that is over. */
  | { readonly state: Exclude<Adoption['state'], 'never-started'>; readonly attempt: Attempt };

export interface RunnerOptions {
  /** Put each script into a control group of its own, where one can be had. Default true. */
  readonly cgroups?: boolean;
  /** The runner process came up or died. */
  onHealth?(health: RunnerHealth): void;
  /** Something that should not happen; the runner goes on. */
  onTrouble?(what: string, error: unknown): void;
}

export interface Runner {
  start(order: Order, options?: WatchOptions): Promise<StartAnswer>;
  adopt(folder: string, options?: WatchOptions): Promise<AdoptAnswer>;
  /** Those that are not over. */
  attempts(): readonly Attempt[];
  health(): RunnerHealth;
  /** Stops watching and ends the runner process. Attempts go on; their `end` is not told any more. */
  stop(): Promise<void>;
}

export function openRunner(options: RunnerOptions = {}): Runner {
  const means = { tools: findTools(), boot: bootIdentity() };
  const cgroups = options.cgroups === false ? null : openCgroups();
  const roster = new Roster({
    onTrouble: (what, error) => options.onTrouble?.(what, error),
    releaseCgroup: (path) => cgroups?.release(path),
  });
  const link = new RunnerLink((health) => {
    if (health.pid !== null) roster.spared.add(health.pid);
    options.onHealth?.(health);
  });
  link.open();

  const start = async (order: Order, given: WatchOptions): Promise<StartAnswer> => {
    const cgroup = cgroups?.make() ?? null;
    const answer = refusalOf(order) ?? (await link.start(toShimOrder(order, { ...means, cgroup })));
    if (answer.kind === 'spawned') {
      const attempt = roster.watch(order.folder, { isAdopted: false, cgroup, options: given });
      // Not at once: a listener may want the attempt, which the caller does not have yet.
      setImmediate(() => void answer.gone.then(() => attempt.shimIsGone()));
      return { ok: true, attempt };
    }
    // A start that was lost can turn out to have happened. One that was refused is closed for good.
    const found = await takeUp(order.folder, given);
    if (found.state !== 'never-started') return { ok: true, attempt: found.attempt };
    if (cgroup !== null) cgroups?.release(cgroup);
    return { ok: false, reason: answer.kind, message: answer.message };
  };

  const takeUp = async (folder: string, given: WatchOptions): Promise<AdoptAnswer> => {
    const found = await adopt(folder);
    const { state } = found;
    if (state === 'never-started') return { state };
    const group = state === 'other-boot' ? undefined : found.record?.group;
    const cgroup = group === undefined ? null : (cgroups?.find(group) ?? null);
    const attempt = roster.watch(folder, { isAdopted: true, cgroup, options: given });
    if (state !== 'running') setImmediate(() => attempt.shimIsGone());
    return { state, attempt };
  };

  return {
    start: (order, given = {}) => start(order, given),
    adopt: (folder, given = {}) => takeUp(folder, given),
    attempts: () => roster.attempts(),
    health: () => link.health(),
    async stop() {
      roster.stop();
      await link.stop();
      cgroups?.close();
    },
  };
}

/** Why no process can be started for this order. */
function refusalOf(order: Order): (SpawnAnswer & { readonly kind: 'refused' }) | null {
  if (!fits(order)) return { kind: 'refused', message: 'E2BIG: its arguments and environment are too long' };
  if (!existsSync(order.cwd)) return { kind: 'refused', message: `${order.cwd} does not exist` };
  return null;
}

const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

function findTools(): Tools {
  const find = (name: string) => TOOL_FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable) ?? name;
  return { setsid: find('setsid'), nice: find('nice'), setpriv: find('setpriv'), env: find('env') };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
