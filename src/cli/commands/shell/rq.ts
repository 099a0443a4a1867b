/**
 * `longhaul rq`: the command line of RQ, with its flags, output and exit codes. Every command calls RQ's HTTP interface
 * on the node of the data directory.
 *
 *     ok <value>      exit 0          fail <reason>      exit 1, as for wrong usage
 */
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { formWithFile } from '../../../compat/rq/multipart.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { createHttpCaller, type HttpCaller } from '../../../library/files/http-caller.ts';
import { print, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf, UsageError } from '../../table/command.ts';
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
  commitmesg: async (flags, node) =>
    printReply(await post(node, messagePath(flags), { _method: 'commit', x_format: 'json' })),
  clone,
  statusmesg: async (flags, node) => printField(flags, node, ({ status }) => status),
  state: async (flags, node) => printField(flags, node, ({ state }) => state),
  statuscountmesg: async (flags, node) => printField(flags, node, ({ count }) => String(count)),
  attachstatusmesg: attachStatus,
  verify_rules: verifyRules,
  check: checkQueues,
};
export const RQ_COMMANDS: readonly string[] = Object.keys(COMMANDS);

export async function rq({ argv: [name = '', ...argv] }: Args): Promise<number> {
  const command = COMMANDS[name];
  if (command === undefined) {
    printNotice(`usage: longhaul rq COMMAND [--KEY VALUE]…; COMMAND is one of ${RQ_COMMANDS.join(', ')}`);
    return 1;
  }
  const { home, ...flags } = parseFlags(argv);
  const node = createHttpCaller(`unix:${join(homeOf(home).root, 'node.sock')}`, undefined);
  try {
    return await command(flags, node);
  } catch (error) {
    if (error instanceof UsageError && name !== 'check') {
      printNotice(error.message);
      return 1;
    }
    if (!(error instanceof LonghaulError)) throw error;
    print(`fail ${error.message}`);
    return 1;
  } finally {
    node.close();
  }
}

/** Parses `--key value` and `--key=value`; a key that another key follows gets the value `yes`. Other words are ignored. */
function parseFlags(argv: readonly string[]): Flags {
  const flags: Record<string, string> = {};
  for (let index = 0; index < argv.length; index += 1) {
    const [, key, inline] = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(argv[index] ?? '') ?? [];
    if (key === undefined) continue;
    const next = argv[index + 1];
    const takesNext = inline === undefined && next !== undefined && !/^--[A-Za-z]/.test(next);
    flags[key.replaceAll('-', '_')] = inline ?? (takesNext ? next : 'yes');
    if (takesNext) index += 1;
  }
  return flags;
}

async function newMessage(flags: Flags, node: HttpCaller, method: string): Promise<number> {
  const dest = required(flags, 'dest');
  if (/^https?:/.test(dest) && flags['relay_ok'] === undefined)
    return fail('--relay-ok is needed for a dest that begins with http:');
  const queue = /^https?:/.test(dest) ? 'relay' : dest.replace(/^\/q\//, '');
  const mesg = Object.fromEntries(
    MESSAGE_FLAGS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
  const text = JSON.stringify({ ...mesg, _method: method });
  return printReply(await post(node, `/q/${encodeURIComponent(queue)}/new_message`, { mesg: text }));
}

async function attach(flags: Flags, node: HttpCaller): Promise<number> {
  const path = resolve(required(flags, 'pathname'));
  const name = flags['name'] ?? basename(path);
  const found = await stat(path).catch(() => null);
  if (found === null) return fail(`No such file ${path} to attach to message`);
  if (found.isDirectory()) return fail(`Attachment currently cannot be a directory ${path}`);
  if (!found.isFile()) return fail(`Attachment currently not of supported type: ${path}`);
  const { type, body } = formWithFile(path, name);
  const address = `${messagePath(flags)}/attach/new`;
  const [word = 'fail', ...rest] = await replyOf(node, address, { headers: { 'content-type': type }, body });
  return printReply([word, ...rest, `for Message: ${flags['msg_id']} attachment`]);
}

async function clone(flags: Flags, node: HttpCaller): Promise<number> {
  await message(flags, node);
  return printReply(await post(node, `${messagePath(flags)}/clone`, { x_format: 'json' }));
}

interface RqMessage {
  readonly status: string;
  readonly state: string;
  readonly count: number;
  readonly _attachments?: Readonly<Record<string, { md5: string; size: number; path: string }>>;
}

async function message(flags: Flags, node: HttpCaller): Promise<RqMessage> {
  const answer = await node.call('GET', `${messagePath(flags)}.json`, { expects: [200, 404] });
  if (answer.status === 404) throw new LonghaulError('refused', 'msg not found');
  return (await answer.json()) as RqMessage;
}

async function printField(flags: Flags, node: HttpCaller, field: (found: RqMessage) => string): Promise<number> {
  return printReply(['ok', field(await message(flags, node))]);
}

async function attachStatus(flags: Flags, node: HttpCaller): Promise<number> {
  const files = Object.entries((await message(flags, node))._attachments ?? {});
  print(
    [`ok ${files.length}`, ...files.map(([name, { md5, size, path }]) => `${name} ${md5} ${size} ${path}`)].join('\n'),
  );
  return 0;
}

/** Does the same as `longhaul router check`, with RQ's output. */
async function verifyRules(flags: Flags): Promise<number> {
  const lines = ruleLines(readRules(required(flags, 'path')));
  print('ok');
  if (flags['verbose'] !== undefined) for (const line of lines) print(line);
  return 0;
}

function post(node: HttpCaller, path: string, fields: Flags): Promise<readonly string[]> {
  const text = new URLSearchParams(fields).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return replyOf(node, path, { headers, body: chunks(text) });
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Returns `["ok", …]` or `["fail", reason]`, whatever the HTTP status. */
async function replyOf(
  node: HttpCaller,
  path: string,
  request: { headers: Readonly<Record<string, string>>; body: AsyncIterable<Uint8Array> },
): Promise<readonly string[]> {
  const answer = await node.call('POST', path, { ...request, expects: [200, 303, 400, 403, 404, 413, 503] });
  const value: unknown = await answer.json();
  return Array.isArray(value) ? value.map(String) : ['fail', `the node answered HTTP ${answer.status}`];
}

function printReply([word = 'fail', ...rest]: readonly string[]): number {
  print([word, ...rest].join(' '));
  return word === 'ok' ? 0 : 1;
}

const fail = (reason: string): number => printReply(['fail', reason]);

/** Returns the path of the message that --msg_id names as a full id: `http://host:3333/q/<queue>/<id>`. */
function messagePath(flags: Flags): string {
  const id = required(flags, 'msg_id');
  const path = /\/q\/([^/]+)\/([^/]+)\/?$/.exec(id);
  if (path === null) throw new UsageError(`--msg_id must be a full id such as http://host:3333/q/films/7, not ${id}`);
  return `/q/${path[1]}/${path[2]}`;
}

function required(flags: Flags, name: string): string {
  const value = flags[name];
  if (value === undefined) throw new UsageError(`--${name} is missing`);
  return value;
}
