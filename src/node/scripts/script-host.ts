/** The parts of a node that run scripts: directories, runner, files, settings and callbacks. An interface only. */

import type { QueueSettings } from '../../core/settings/settings.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import type { Runner } from '../../runner/open-runner.ts';
import type { Copies } from '../cluster/copies.ts';
import type { Home } from '../home.ts';
import type { AttemptRegistry } from './attempt-registry.ts';
import type { Duplicator } from './duplicate.ts';
import type { RunningScripts } from './running-scripts.ts';

export interface ScriptHost extends Duplicator {
  readonly home: Home;
  readonly runner: Runner;
  readonly blobs: Blobs;
  readonly registry: AttemptRegistry;
  readonly running: RunningScripts;
  readonly version: string;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Sends the files of an attempt to another node, and fetches those of a suspended attempt. */
  readonly copies: Pick<Copies, 'offerAttempt' | 'bring'>;
  settingsFor(queue: string): QueueSettings;
  /** The script of this node's own file, where other nodes may use others; null: the script of the settings. */
  ownScript(queue: string): string | null;
  /** Secret environment variables from the queue's file. */
  secretsOf(queue: string): Readonly<Record<string, string>>;
  /** Reports that the queue's scripts cannot start. The queue waits, and checks again soon. */
  onScriptProblem(queue: string, problem: string): void;
  onTrouble(what: string, error: unknown): void;
}
