/**
 * Reads the directory of an RQ (version 1.18): queues, and messages with their files. Only reads.
 *
 *     queue/<name>/config.json, form.json   queue/<name>/{prep,que,run,err}/<msg_id>/
 *     config/<name>.down, .pause            queue/<name>/{done,relayed}/YYYYMMDD/HH/MM/<msg_id>/
 *     <msg_id>/msg, status, pid, attach/<file>, job/stdio.log
 *
 * A deleted queue is a directory `<name>.deleted.<inode>`, and stays deleted.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LonghaulError } from '../core/ports/errors.ts';
import type { FoundMessage } from './rq-message.ts';
import { isProcessOf, readMessageFolder } from './rq-message.ts';

export interface RqQueue {
  readonly name: string;
  /** Its config.json, with the script as an absolute path. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly state: 'up' | 'paused' | 'down';
  /** The path of its form.json, or null. */
  readonly form: string | null;
}

export interface RqSource {
  readonly queues: readonly RqQueue[];
  readonly messages: readonly FoundMessage[];
  /** Messages about data that cannot be imported. */
  readonly unmapped: readonly string[];
}

/** Queues whose work Longhaul does itself. Messages of the other two system queues of RQ mean the same here. */
const REPLACED: Readonly<Record<string, string>> = {
  cleaner: 'Longhaul deletes old jobs by retention',
  webhook: 'let RQ call its last webhooks before you stop it',
};
const OWN_QUEUES = ['relay', 'rq_router'];
const FLAT_STATES = ['prep', 'que', 'run', 'err'] as const;
const DATED_STATES = ['done', 'relayed'] as const;
/** The rules of rq_router, in Ruby. */
const RULES = 'config/rq_router_rules.rb';
const DELETED = /\.deleted\.\d+$/;

/** Throws `bad-input` if the directory is not one of RQ. */
export async function readRq(directory: string): Promise<RqSource> {
  const root = resolve(directory);
  const folder = join(root, 'queue');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    throw new LonghaulError('bad-input', `${root} is no directory of RQ: it has no directory queue/`);
  });
  const [queues, messages, unmapped]: [RqQueue[], FoundMessage[], string[]] = [[], [], []];
  for (const name of names.filter((each) => !DELETED.test(each)).sort()) {
    const config = await readConfig(join(folder, name));
    if (config === null) continue;
    if (name in REPLACED) {
      const count = await countOpen(join(folder, name));
      if (count > 0) unmapped.push(`${count} messages of ${name}: ${REPLACED[name]}`);
      continue;
    }
    if (typeof config === 'string') unmapped.push(`settings of queue ${name}: ${config}`);
    else if (!OWN_QUEUES.includes(name)) queues.push(await queueIn(root, name, config));
    for await (const found of messagesIn(join(folder, name), name)) {
      if (typeof found === 'string') unmapped.push(found);
      else messages.push(found);
    }
  }
  if (await exists(join(root, RULES))) unmapped.push(`${RULES}: RQ's rules are not read; write router.json instead`);
  return { queues, messages, unmapped };
}

async function queueIn(root: string, name: string, config: RqQueue['config']): Promise<RqQueue> {
  const form = join(root, 'queue', name, 'form.json');
  return {
    name,
    config: withAbsoluteScript(root, config),
    state: await stateOf(root, name),
    form: (await exists(form)) ? form : null,
  };
}

/** Returns the pid of the manager that runs on this directory, or null. */
export async function runningManager(directory: string): Promise<number | null> {
  const pid = Number(await readFile(join(directory, 'config/queuemgr.pid'), 'utf8').catch(() => ''));
  return (await isProcessOf(pid, /rq|ruby/)) ? pid : null;
}

/** Returns null for a directory that is no queue, a text for a config.json that cannot be read. */
async function readConfig(folder: string): Promise<Readonly<Record<string, unknown>> | string | null> {
  const text = await readFile(join(folder, 'config.json'), 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' || error.code === 'ENOTDIR' ? null : error,
  );
  if (text === null) return null;
  if (typeof text !== 'string') return text.message;
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === 'object' && config !== null && !Array.isArray(config))
      return config as Readonly<Record<string, unknown>>;
    return 'config.json is no JSON object';
  } catch (error) {
    return `config.json is not valid JSON: ${(error as Error).message}`;
  }
}

/** RQ resolves a relative script from its directory. */
function withAbsoluteScript(root: string, config: Readonly<Record<string, unknown>>): RqQueue['config'] {
  const { script } = config;
  return typeof script === 'string' ? { ...config, script: resolve(root, script) } : config;
}

/** A queue that is down and paused is down. */
async function stateOf(root: string, name: string): Promise<RqQueue['state']> {
  const has = (suffix: string) => exists(join(root, 'config', `${name}.${suffix}`));
  if (await has('down')) return 'down';
  return (await has('pause')) ? 'paused' : 'up';
}

/** Returns whether a file or directory exists. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function countOpen(folder: string): Promise<number> {
  const counts = await Promise.all(['que', 'run'].map(async (state) => (await entries(join(folder, state))).length));
  return counts.reduce((sum, each) => sum + each, 0);
}

async function* messagesIn(folder: string, queue: string): AsyncGenerator<FoundMessage | string> {
  for (const state of FLAT_STATES)
    for (const id of await entries(join(folder, state)))
      yield readMessageFolder({ path: join(folder, state, id), queue, state, id });
  for (const state of DATED_STATES)
    for (const day of await entries(join(folder, state)))
      for (const hour of await entries(join(folder, state, day)))
        for (const minute of await entries(join(folder, state, day, hour)))
          for (const id of await entries(join(folder, state, day, hour, minute)))
            yield readMessageFolder({ path: join(folder, state, day, hour, minute, id), queue, state, id });
}

/** Names that begin with a digit, as ids and dates do; `_…` is a message in the making. */
async function entries(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.filter((name) => /^\d/.test(name)).sort();
}
