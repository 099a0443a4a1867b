/**
 * The runner: starts attempts, watches them, and adopts attempts that an earlier process started.
 *
 * It knows no queue, no job and no store. Its input is attempt directories, commands and environments; its output is
 * facts. Attempts continue when the runner stops or is killed. The next runner adopts each of them by its attempt
 * directory.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { type Adoption, adopt } from './attempt/adopt.ts';
import type { Attempt, WatchOptions } from './attempt/attempt.ts';
import { AttemptWatcher } from './attempt/attempt-watcher.ts';
import { fitsKernelLimits, type StartRequest, type Tools, toShimInput } from './attempt/start-request.ts';
import { type RunnerHealth, RunnerLink, type SpawnAnswer } from './process/runner-link.ts';
import { openCgroups } from './process-tree/cgroups.ts';
import { bootIdentity } from './process-tree/process-stat.ts';

export type StartAnswer =
  | { readonly ok: true; readonly attempt: Attempt }
  /** Nothing was started, and nothing will be. The attempt directory cannot be used again. */
  | { readonly ok: false; readonly reason: 'refused' | 'lost'; readonly message: string };

export type AdoptAnswer =
  | { readonly state: 'never-started' }
  /** For an attempt that has ended, `end` resolves at once. */
  | { readonly state: Exclude<Adoption['state'], 'never-started'>; readonly attempt: Attempt };

export interface RunnerOptions {
  /** Runs each script in a control group of its own, where the system allows it. Default true. */
  readonly cgroups?: boolean;
  /** Called when the runner process becomes ready or dies. */
  onHealth?(health: RunnerHealth): void;
  /** Called on an unexpected error; the runner continues. */
  onTrouble?(what: string, error: unknown): void;
}

export interface Runner {
  /** Starts one attempt. */
  start(request: StartRequest, options?: WatchOptions): Promise<StartAnswer>;
  /** Continues to supervise the attempt of a directory, or reports that it was never started. */
  adopt(folder: string, options?: WatchOptions): Promise<AdoptAnswer>;
  /** Returns the attempts that have not ended. */
  attempts(): readonly Attempt[];
  health(): RunnerHealth;
  /** Stops watching and ends the runner process. Attempts continue; their `end` never resolves. */
  stop(): Promise<void>;
}

export function openRunner(options: RunnerOptions = {}): Runner {
  const host = { tools: findTools(), boot: bootIdentity() };
  const cgroups = options.cgroups === false ? null : openCgroups();
  const watcher = new AttemptWatcher({
    onTrouble: (what, error) => options.onTrouble?.(what, error),
    releaseCgroup: (path) => cgroups?.release(path),
  });
  const link = new RunnerLink((health) => {
    if (health.pid !== null) watcher.excludedPids.add(health.pid);
    options.onHealth?.(health);
  });
  link.open();

  const start = async (request: StartRequest, given: WatchOptions): Promise<StartAnswer> => {
    const cgroup = cgroups?.make(given.maxMemoryBytes ?? null) ?? null;
    const answer = refusalFor(request) ?? (await link.start(toShimInput(request, { ...host, cgroup })));
    if (answer.kind === 'spawned') {
      const attempt = watcher.watch(request.folder, { isAdopted: false, cgroup, options: given });
      // Deferred: a listener may need the attempt, which the caller does not have yet.
      setImmediate(() => void answer.exited.then(() => attempt.shimExited()));
      return { ok: true, attempt };
    }
    // A lost start may have happened after all. A refused start is final.
    const found = await adoptAttempt(request.folder, given);
    if (found.state !== 'never-started') return { ok: true, attempt: found.attempt };
    if (cgroup !== null) cgroups?.release(cgroup);
    return { ok: false, reason: answer.kind, message: answer.message };
  };

  const adoptAttempt = async (folder: string, given: WatchOptions): Promise<AdoptAnswer> => {
    const found = await adopt(folder);
    const { state } = found;
    if (state === 'never-started') return { state };
    const group = state === 'other-boot' ? undefined : found.record?.group;
    const cgroup = group === undefined ? null : (cgroups?.find(group) ?? null);
    const attempt = watcher.watch(folder, { isAdopted: true, cgroup, options: given });
    if (state !== 'running') setImmediate(() => attempt.shimExited());
    return { state, attempt };
  };

  return {
    start: (request, given = {}) => start(request, given),
    adopt: (folder, given = {}) => adoptAttempt(folder, given),
    attempts: () => watcher.attempts(),
    health: () => link.health(),
    async stop() {
      watcher.stop();
      await link.stop();
      cgroups?.close();
    },
  };
}

/** Returns why no process can be started for this request, or null. */
function refusalFor(request: StartRequest): (SpawnAnswer & { readonly kind: 'refused' }) | null {
  if (!fitsKernelLimits(request))
    return { kind: 'refused', message: 'E2BIG: the arguments and environment are too long' };
  if (!existsSync(request.cwd))
    return { kind: 'refused', message: `the working directory ${request.cwd} does not exist` };
  return null;
}

const TOOL_DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

function findTools(): Tools {
  const find = (name: string) => TOOL_DIRECTORIES.map((directory) => `${directory}/${name}`).find(isExecutable) ?? name;
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
