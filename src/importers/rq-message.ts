/** Reads one message directory of RQ: the message in Longhaul's terms, and where its files are. Only reads. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ForeignJob } from './foreign-job.ts';
import { DEFAULT_JOB, parseJson } from './foreign-job.ts';

export interface FoundMessage {
  readonly job: ForeignJob;
  readonly files: MessageFiles;
  /** URLs that are called at its end. */
  readonly webhooks: readonly string[];
}

export interface MessageFiles {
  readonly attachments: readonly { readonly name: string; readonly path: string }[];
  /** The output of its runs; null if there is none. */
  readonly log: string | null;
}

export interface MessageFolder {
  readonly path: string;
  readonly queue: string;
  readonly state: 'prep' | 'que' | 'run' | 'err' | 'done' | 'relayed';
  readonly id: string;
}

const STATES = {
  prep: 'draft',
  que: 'waiting',
  run: 'waiting',
  err: 'failed',
  done: 'done',
  relayed: 'done',
} as const satisfies Record<MessageFolder['state'], ForeignJob['state']>;

/** Fields that Longhaul keeps elsewhere, or that RQ writes for itself. */
const OWN_FIELDS: readonly string[] = [
  'msg_id',
  'count',
  'max_count',
  'due',
  'status',
  'state',
  'path',
  'dup',
  'dups',
  'child_pid',
  '_attachments',
];
const ID_TIME = /^(\d{4})(\d{2})(\d{2})\.(\d{2})(\d{2})\.(\d{2})\.(\d{3})\./;

/** Returns the message, or a text that says why it cannot be imported. */
export async function readMessageFolder(folder: MessageFolder): Promise<FoundMessage | string> {
  const { path, queue, state, id } = folder;
  const name = `${id} of ${queue} (${state})`;
  const text = await readFile(join(path, 'msg'), 'utf8').catch(() => null);
  if (text === null) return `${name}: its directory has no message file`;
  const message = parseJson(text);
  if (!isFields(message)) return `${name}: its message file is not valid JSON`;
  const pid = state === 'run' ? Number(await readFile(join(path, 'pid'), 'utf8').catch(() => '')) : 0;
  if (await isProcessOf(pid, /./)) return `${name}: its script still runs (pid ${pid}); import again when it has ended`;
  const files = await filesOf(path);
  const status = await statusIn(path);
  return {
    job: jobOf(folder, message, { status, changedAt: await changedAt(path) }),
    files,
    webhooks: urlsIn(message),
  };
}

interface Details {
  readonly status: string;
  readonly changedAt: number;
}

function jobOf(
  { queue, state, id }: MessageFolder,
  message: Readonly<Record<string, unknown>>,
  { status, changedAt: at }: Details,
): ForeignJob {
  const data = Object.fromEntries(Object.entries(message).filter(([field]) => !OWN_FIELDS.includes(field)));
  const [count, maxCount, due] = [wholeIn(message['count']), wholeIn(message['max_count']), wholeIn(message['due'])];
  const isEnded = STATES[state] === 'done' || STATES[state] === 'failed';
  const max = maxCount ?? DEFAULT_MAX_COUNT;
  return {
    ...DEFAULT_JOB,
    id,
    queue,
    state: STATES[state],
    data: JSON.stringify(data),
    createdAt: timeOf(id),
    runAt: due === null ? null : due * 1_000,
    endedAt: isEnded ? at : null,
    attempt: isEnded ? 1 : 0,
    resends: isEnded ? (count ?? 0) : 0,
    // For a waiting job what is left of them: it starts with none used.
    policy: { maxResends: isEnded ? max : Math.max(0, max - (count ?? 0)) },
    result: state === 'done' && status !== '' ? JSON.stringify({ status }) : null,
    failure: state === 'err' ? { group: 'err', message: status, detail: null } : null,
    forwardedTo: state === 'relayed' ? status || textIn(message['dest']) : null,
  };
}

const DEFAULT_MAX_COUNT = 15;
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

function wholeIn(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : null;
}

/** The UTC time in a message id: YYYYMMDD.HHMM.SS.mmm.inode. */
function timeOf(id: string): number | null {
  const [, ...parts] = ID_TIME.exec(id) ?? [];
  if (parts.length === 0) return null;
  const [year = 0, month = 1, ...rest] = parts.map(Number);
  return Date.UTC(year, month - 1, ...(rest as [number, number, number, number, number]));
}

async function statusIn(path: string): Promise<string> {
  const status = parseJson(await readFile(join(path, 'status'), 'utf8').catch(() => ''));
  return isFields(status) && typeof status['job_status'] === 'string' ? status['job_status'] : '';
}

/** A rename does not change a file: the latest of its files tells when the message last changed. */
async function changedAt(path: string): Promise<number> {
  const files = ['msg', 'status', 'job/stdio.log'].map((file) => stat(join(path, file)).catch(() => null));
  const times = (await Promise.all(files)).map((found) => Math.round(found?.mtimeMs ?? 0));
  return Math.max(...times);
}

async function filesOf(path: string): Promise<MessageFiles> {
  const attached = await readdir(join(path, 'attach'), { withFileTypes: true }).catch(() => []);
  const names = attached.filter((file) => file.isFile() && !file.name.startsWith('.')).map(({ name }) => name);
  const log = join(path, 'job/stdio.log');
  const hasLog = await stat(log).then(
    (found) => found.isFile(),
    () => false,
  );
  return {
    attachments: names.sort().map((name) => ({ name, path: join(path, 'attach', name) })),
    log: hasLog ? log : null,
  };
}

/** RQ takes a list only. */
function urlsIn(message: Readonly<Record<string, unknown>>): readonly string[] {
  const given = message['post_run_webhook'];
  const urls: readonly unknown[] = Array.isArray(given) ? given : [given];
  return urls.filter((url): url is string => typeof url === 'string' && url !== '');
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether the process lives and its command line matches: a pid in a file may be another program's by now. */
export async function isProcessOf(pid: number, program: RegExp): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return program.test(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
}
