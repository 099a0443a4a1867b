/**
 * Queues from files: an executable in `queues/` is a queue of that name; `<name>.json` beside it, or RQ's
 * `<name>/config.json`, configures it. In RQ's own directory `queue/`, each `<name>/config.json` is a queue too; a file
 * in `queues/` has precedence. Each call scans the directories once.
 *
 * An invalid file is a problem of its own queue only.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { SYSTEM_QUEUES } from '../../core/job/relay-request.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { ScheduleInput } from '../../core/schedules/schedule-input.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import type { Home } from '../home.ts';
import { COMMANDS_SCRIPT } from '../scripts/command-job.ts';
import { schedulesFor } from './file-schedules.ts';
import type { QueueFile } from './queue-file.ts';
import { readQueueFile } from './queue-file.ts';

export interface QueueDefinition {
  readonly name: string;
  /** A record is already the settings; only a file is applied to them. */
  readonly origin: 'file' | 'record';
  readonly settings: Partial<QueueSettings>;
  /** The script's path, symbolic links not resolved; null when the queue has no script. */
  readonly script: string | null;
  readonly secrets: Readonly<Record<string, string>>;
  /** By full name. */
  readonly schedules: Readonly<Record<string, ScheduleInput>>;
  readonly notices: readonly string[];
  /** Why the queue cannot run. */
  readonly problem: string | null;
}

const EXECUTABLE = 0o111;

export async function readQueueFolder(home: Home): Promise<readonly QueueDefinition[]> {
  const files = await readdir(home.queues);
  const names = new Set<string>();
  for (const file of files) {
    const name = await queueOf(home, file);
    if (name !== null) names.add(name);
  }
  for (const name of await rqQueueNames(home)) names.add(name);
  return Promise.all([...names].sort().map((name) => readDefinition(home, name)));
}

/** Returns the queue that a file in the directory belongs to, or null. */
async function queueOf(home: Home, file: string): Promise<string | null> {
  if (file.startsWith('.') || file.endsWith('~')) return null;
  if (file.endsWith('.json')) return file.slice(0, -'.json'.length);
  const found = await stat(join(home.queues, file)).catch(() => null);
  if (found === null) return file;
  if (found.isDirectory())
    return (await stat(join(home.queues, file, 'config.json')).catch(() => null)) === null ? null : file;
  return (found.mode & EXECUTABLE) === 0 && !(await hasConfig(home, file)) ? null : file;
}

/** A name with a dot is a deleted queue's: RQ renames its directory to `<name>.deleted.<inode>`. */
async function rqQueueNames(home: Home): Promise<readonly string[]> {
  const entries = await readdir(home.rqQueues).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const names = entries.filter((name) => !name.includes('.'));
  const configs = names.map((name) => stat(join(home.rqQueues, name, 'config.json')).catch(() => null));
  const found = await Promise.all(configs);
  return names.filter((_, index) => found[index] !== null);
}

async function hasConfig(home: Home, name: string): Promise<boolean> {
  return (await stat(join(home.queues, `${name}.json`)).catch(() => null)) !== null;
}

async function readDefinition(home: Home, name: string): Promise<QueueDefinition> {
  try {
    checkQueueName(name);
    const { file, path } = await readConfig(home, name);
    if (SYSTEM_QUEUES.includes(name)) return systemQueue(name, file);
    const script = await scriptOf(home, { name, given: file.settings.script ?? null, isRq: file.isRq });
    return {
      name,
      origin: 'file',
      // RQ_SCRIPT is the path as configured.
      settings: { ...file.settings, script: file.isRq ? (file.settings.script ?? script) : script },
      script,
      secrets: file.secrets,
      schedules: schedulesFor(name, file.schedules),
      notices: [...file.notices, ...ineffectiveLimits(file.settings)],
      problem:
        script === null ? `${path} has no script: set "script", or put an executable of that name into queues/` : null,
    };
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return {
      name,
      origin: 'file',
      settings: {},
      script: null,
      secrets: {},
      schedules: {},
      notices: [],
      problem: error.message,
    };
  }
}

/** A system queue: the node runs it itself, so a script in its file has no effect. */
function systemQueue(name: string, file: QueueFile): QueueDefinition {
  const { script = null, ...settings } = file.settings;
  const notices =
    script === null ? file.notices : [...file.notices, `${name} is a system queue: its script is not used`];
  const schedules = schedulesFor(name, file.schedules);
  return { name, origin: 'file', settings, script: null, secrets: {}, schedules, notices, problem: null };
}

/** The kernel limits processes by user, and never limits root. */
function ineffectiveLimits({ limits, user = null }: Partial<QueueSettings>): readonly string[] {
  const isIneffective = (limits?.processes ?? null) !== null && user === null && process.getuid?.() === 0;
  return isIneffective ? ['limits.processes has no effect for root: set user for its scripts'] : [];
}

const NO_CONFIG: QueueFile = { settings: {}, secrets: {}, schedules: {}, notices: [], isRq: false };

async function readConfig(home: Home, name: string): Promise<{ file: QueueFile; path: string }> {
  const paths = [
    join(home.queues, `${name}.json`),
    join(home.queues, name, 'config.json'),
    join(home.rqQueues, name, 'config.json'),
  ];
  for (const path of paths) {
    const json = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw error;
    });
    if (json !== null) return { file: readQueueFile(path, json), path };
  }
  return { file: NO_CONFIG, path: join(home.queues, name) };
}

/** RQ's relative paths start at its base directory, Longhaul's at `queues/`. */
async function scriptOf(
  home: Home,
  { name, given, isRq }: { name: string; given: string | null; isRq: boolean },
): Promise<string | null> {
  if (given === null) {
    const own = join(home.queues, name);
    const found = await stat(own).catch(() => null);
    return found === null || found.isFile() ? own : null;
  }
  if (given === COMMANDS_SCRIPT) return given;
  return isAbsolute(given) ? given : join(isRq ? home.root : home.queues, given);
}
