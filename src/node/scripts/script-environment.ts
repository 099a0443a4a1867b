/**
 * The environment of a script: RQ's variables, the same with the prefix LONGHAUL_, and Longhaul's own.
 *
 * Starts empty. Only an allow-list of the node's own environment is inherited, so that no token or store address leaks.
 * A producer can influence values, never names.
 */
import { join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { NodeSettings } from '../node-settings.ts';
import { countOf, messageFields } from '../queues/rq-view.ts';
import { STEPS } from './steps/step-files.ts';
import { PARENTS } from './workdir.ts';

export interface ScriptPaths {
  /** The attempt's workdir: the script's current directory. */
  readonly work: string;
  /** The script as configured, and with its links resolved. */
  readonly script: string;
  readonly realScript: string;
}

export interface EnvironmentSource {
  readonly job: RunningJob;
  readonly settings: QueueSettings;
  readonly node: NodeSettings;
  readonly paths: ScriptPaths;
  readonly version: string;
  /** Values that only the queue's file contains. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The node's own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
}

const ALLOWED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const LONGEST_VALUE = 64 * 1024;

export function scriptEnvironment(source: EnvironmentSource): Record<string, string> {
  const { inherited, settings, secrets } = source;
  const env: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const name of ALLOWED) {
    const value = inherited[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, settings.env, secrets);
  for (const [name, value] of Object.entries(rqVariables(source))) {
    env[name] = value;
    env[`LONGHAUL_${name.slice('RQ_'.length)}`] = value;
  }
  return Object.assign(env, ownVariables(source));
}

function rqVariables({ job, node, paths, version }: EnvironmentSource): Record<string, string> {
  const message = messageOf(job);
  return {
    RQ_VER: version,
    RQ_SCRIPT: paths.script,
    RQ_REALSCRIPT: paths.realScript,
    RQ_HOST: node.url,
    RQ_HOSTNAMES: [node.url, ...node.aliases].join(' '),
    RQ_PORT: String(node.port),
    RQ_ENV: node.env,
    RQ_DEST: destinationOf(job, node, message['dest']),
    RQ_DEST_QUEUE: job.queue,
    RQ_MSG_ID: job.id,
    RQ_FULL_MSG_ID: addressOf(job, node),
    RQ_ORIG_MSG_ID: textOf(message['orig_msg_id']) || addressOf(job, node),
    RQ_MSG_DIR: paths.work,
    RQ_PIPE: '3',
    RQ_WRITE: '3',
    RQ_READ: '4',
    RQ_COUNT: String(countOf(job)),
    ...parameters(message),
    ...(isSet(message['force_remote']) && { RQ_FORCE_REMOTE: '1' }),
  };
}

/** Returns the message as RQ's script finds it in `../msg`. */
export function rqMessage(job: RunningJob, node: NodeSettings): string {
  return JSON.stringify({ orig_msg_id: addressOf(job, node), ...messageFields(job) });
}

function ownVariables({ job, paths }: EnvironmentSource): Record<string, string> {
  return {
    LONGHAUL_JOB_ID: job.id,
    LONGHAUL_QUEUE: job.queue,
    LONGHAUL_NAME: job.name ?? '',
    LONGHAUL_ATTEMPT: String(job.attempt),
    LONGHAUL_ATTEMPT_TOKEN: String(job.lease.token),
    LONGHAUL_FAILURES: String(job.failures),
    LONGHAUL_DATA: join(paths.work, 'data.json'),
    LONGHAUL_CHECKPOINT: join(paths.work, 'checkpoint.json'),
    LONGHAUL_STEPS: join(paths.work, STEPS),
    LONGHAUL_ATTACH: join(paths.work, 'attach'),
    LONGHAUL_OUT: join(paths.work, 'out'),
    ...(job.parents !== null && { LONGHAUL_PARENTS: join(paths.work, PARENTS) }),
  };
}

export function addressOf(job: { readonly queue: string; readonly id: string }, node: NodeSettings): string {
  return `${node.url}q/${job.queue}/${job.id}`;
}

/** A URL is kept; a path is below this node's URL; any other value is a queue of this node. */
function destinationOf(job: RunningJob, node: NodeSettings, dest: unknown): string {
  const given = textOf(dest);
  if (/^https?:/.test(given)) return given;
  if (given.startsWith('/q/')) return `${node.url}${given.slice(1)}`;
  return `${node.url}q/${given === '' ? job.queue : given}`;
}

/** A value that is too long for the environment, or contains NUL, is in data.json only. */
function parameters(message: Readonly<Record<string, unknown>>): Record<string, string> {
  const parameter = (number: number) => fitting(textOf(message[`param${number}`]));
  return { RQ_PARAM1: parameter(1), RQ_PARAM2: parameter(2), RQ_PARAM3: parameter(3), RQ_PARAM4: parameter(4) };
}

function fitting(value: string): string {
  return value.length > LONGEST_VALUE || value.includes('\u0000') ? '' : value;
}

function messageOf(job: RunningJob): Readonly<Record<string, unknown>> {
  const data: unknown = JSON.parse(job.data);
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function isSet(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true' || value === 'yes';
}
