/**
 * `longhaul rq`: RQ's command line, with its flags, output and exit codes. Every command is a call of RQ's HTTP interface,
 * to the node that runs on the home.
 *
 *     ok <what>      exit 0          fail <why>      exit 1
 */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formWithFile } from '../../../compat/rq/multipart.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { homeOf, UsageError } from '../../table/command.ts';
import { createHttpCaller, type HttpCaller } from '../../target/http-caller.ts';
import { readRules, ruleLines } from '../queues/router.ts';
import { checkQueues } from './rq-check.ts';

export type Flags = Readonly<Record<string, string>>;
type RqCommand = (flags: Flags, node: HttpCaller) => Promise<number>;

const MESSAGE_FLAGS = 'dest src count max_count param1 param2 param3 param4 due force_remote'.split(' ');

const COMMANDS: Readonly<Record<string, RqCommand>> = {
  sendmesg: (flags, node) => newMessage(flags, node, 'commit'),
  prepmesg: (flags, node) => newMessage(flags, node, 'prep'),
  single_que: (flags, node) => newMessage(flags, node, 'single_que'),
  attachmesg: attach,
  commitmesg: async (flags, node) => say(await post(node, placeOf(flags), { _method: 'commit' })),
  clone: async (flags, node) => say(await post(node, `${placeOf(flags)}/clone`, { x_format: 'json' })),
  statusmesg: async (flags, node) => sayField(flags, node, ({ status }) => status),
  state: async (flags, node) => sayField(flags, node, ({ state }) => state),
  statuscountmesg: async (flags, node) => sayField(flags, node, ({ status, count }) => `${status} ${count}`),
  attachstatusmesg: attachStatus,
  verify_rules: verifyRules,
  check: checkQueues,
};
export const RQ_COMMANDS: readonly string[] = Object.keys(COMMANDS);

export async function rq({ words: [name = '', ...words] }: Call): Promise<number> {
  const command = COMMANDS[name];
  if (command === undefined)
    throw new UsageError(`usage: longhaul rq COMMAND [--KEY VALUE]…; COMMAND is one of ${RQ_COMMANDS.join(', ')}`);
  const { home, ...flags } = flagsOf(words);
  const node = createHttpCaller(`unix:${join(homeOf(home).root, 'node.sock')}`, undefined);
  try {
    return await command(flags, node);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    print(`fail ${error.message}`);
    return 1;
  } finally {
    node.close();
  }
}

/** `--key value` and `--key=value`; a key that is followed by another is a plain yes. */
function flagsOf(words: readonly string[]): Flags {
  const flags: Record<string, string> = {};
  for (let place = 0; place < words.length; place += 1) {
    const [, key, inline] = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(words[place] ?? '') ?? [];
    if (key === undefined) throw new UsageError(`${words[place]} is no --KEY`);
    const next = words[place + 1];
    const takesNext = inline === undefined && next !== undefined && !/^--[A-Za-z]/.test(next);
    flags[key.replaceAll('-', '_')] = inline ?? (takesNext ? next : 'yes');
    if (takesNext) place += 1;
  }
  return flags;
}

async function newMessage(flags: Flags, node: HttpCaller, method: string): Promise<number> {
  const dest = needed(flags, 'dest');
  if (/^https?:/.test(dest) && flags['relay_ok'] === undefined)
    return fail('--relay-ok is needed for a dest that begins with http:');
  const queue = /^https?:/.test(dest) ? 'relay' : dest.replace(/^\/q\//, '');
  const mesg = Object.fromEntries(
    MESSAGE_FLAGS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
  return say(
    await post(node, `/q/${encodeURIComponent(queue)}/new_message`, { mesg: JSON.stringify(mesg), _method: method }),
  );
}

async function attach(flags: Flags, node: HttpCaller): Promise<number> {
  const path = needed(flags, 'pathname');
  const name = flags['name'] ?? basename(path);
  if (!path.startsWith('/')) return fail('--pathname must be an absolute path');
  if (!(await stat(path).catch(() => null))?.isFile()) return fail(`${path} is no file that can be read`);
  const { type, body } = formWithFile(path, name);
  return say(await answerOf(node, `${placeOf(flags)}/attach/new`, { headers: { 'content-type': type }, body }));
}

interface RqMessage {
  readonly status: string;
  readonly state: string;
  readonly count: number;
  readonly _attachments: Readonly<Record<string, { md5: string; size: number; path: string }>>;
}

async function message(flags: Flags, node: HttpCaller): Promise<RqMessage> {
  const answer = await node.call('GET', `${placeOf(flags)}.json`, { expects: [200, 404] });
  if (answer.status === 404) throw new LonghaulError('refused', `cannot find message ${flags['msg_id']}`);
  return (await answer.json()) as RqMessage;
}

async function sayField(flags: Flags, node: HttpCaller, field: (found: RqMessage) => string): Promise<number> {
  return say(['ok', field(await message(flags, node))]);
}

async function attachStatus(flags: Flags, node: HttpCaller): Promise<number> {
  const files = Object.entries((await message(flags, node))._attachments);
  print(
    [`ok ${files.length}`, ...files.map(([name, { md5, size, path }]) => `${name} ${md5} ${size} ${path}`)].join('\n'),
  );
  return 0;
}

/** The same as `longhaul router check`, in RQ's words. */
async function verifyRules(flags: Flags): Promise<number> {
  const lines = ruleLines(readRules(needed(flags, 'path')));
  say(['ok', lines[0] ?? '']);
  if (flags['verbose'] !== undefined) for (const line of lines.slice(1)) print(line);
  return 0;
}

function post(node: HttpCaller, path: string, fields: Flags): Promise<readonly string[]> {
  const text = new URLSearchParams(fields).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return answerOf(node, path, { headers, body: pieces(text) });
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** `["ok", …]` or `["fail", why]`, whatever the status. */
async function answerOf(
  node: HttpCaller,
  path: string,
  request: { headers: Readonly<Record<string, string>>; body: AsyncIterable<Uint8Array> },
): Promise<readonly string[]> {
  const answer = await node.call('POST', path, { ...request, expects: [200, 303, 400, 403, 404, 413, 503] });
  const value: unknown = await answer.json();
  return Array.isArray(value) ? value.map(String) : ['fail', `the node answered ${answer.status}`];
}

function say([word = 'fail', ...rest]: readonly string[]): number {
  print([word, ...rest].join(' '));
  return word === 'ok' ? 0 : 1;
}

const fail = (why: string): number => say(['fail', why]);

/** A full id is an address: `http://host:3333/q/<queue>/<id>`. */
function placeOf(flags: Flags): string {
  const id = needed(flags, 'msg_id');
  const path = /\/q\/([^/]+)\/([^/]+)\/?$/.exec(id);
  if (path === null) throw new UsageError(`--msg_id must be a full id such as http://host:3333/q/films/7, not ${id}`);
  return `/q/${path[1]}/${path[2]}`;
}

function needed(flags: Flags, name: string): string {
  const value = flags[name];
  if (value === undefined) throw new UsageError(`--${name} is missing`);
  return value;
}
