/** What running scripts needs of the node: folders, the runner, files, settings, and somebody to tell. A contract alone. */

import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import type { Runner } from '../../runner/open-runner.ts';
import type { Home } from '../home.ts';
import type { AttemptRegistry } from './attempt-registry.ts';
import type { Duplicator } from './duplicate.ts';
import type { RunningScripts } from './running-scripts.ts';

export interface ScriptHost extends Duplicator {
  readonly home: Home;
  readonly runner: Runner;
  readonly blobs: Blobs;
  readonly marks: AttemptRegistry;
  readonly running: RunningScripts;
  readonly version: string;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Has another node keep a copy of what this attempt left. Resolved when one does, or nobody can. */
  keepCopy(job: RunningJob): Promise<void>;
  settingsFor(queue: string): QueueSettings;
  /** The script that this node's own file names, where other nodes may name others; null: what the settings say. */
  ownScript(queue: string): string | null;
  /** Values for the environment that nobody else may see, by the queue's file. */
  secretsOf(queue: string): Readonly<Record<string, string>>;
  /** The queue's scripts cannot be started as things stand: it waits, and looks again soon. */
  onScriptProblem(queue: string, problem: string): void;
  onTrouble(what: string, error: unknown): void;
}
