/**
 * RQ's forms that create a queue. Each writes `queue/<name>/config.json` in the data directory, as RQ does, or links it.
 * Naming a script is code execution: it needs the role admin, or the loopback where RQ's access is open.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { queueName } from '../../core/job/names.ts';
import { homeAt } from '../../node/home.ts';
import { readRqConfig } from '../../node/queues/rq-config.ts';
import { writeRqQueue } from '../../node/queues/rq-queue-files.ts';
import { RequestRefused } from '../../server/http/problem.ts';
import type { Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { fieldsUnder, listsUnder, readRqBody } from './rq-body.ts';
import { parametersOf } from './rq-config-view.ts';
import { seeCreated } from './rq-pages.ts';
import { rqQueue } from './rq-queues.ts';
import { fail, inRqWords, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const BODY = { body: 'any', limits: { bodyBytes: 1024 * 1024 } } as const;

type Config = Readonly<Record<string, unknown>>;

export function rqNewQueueRoutes(rq: RqCompat): readonly Route[] {
  return [
    route({
      name: 'rq.new_queue.page',
      method: 'GET',
      path: '/new_queue',
      about: 'Redirects to the web UI.',
      role: 'open',
      answer: 'none',
      status: 303,
      handle: () => seeOther('/queues'),
    }),
    route({
      name: 'rq.new_queue',
      method: 'POST',
      path: '/new_queue',
      about: 'Creates a queue with a script, from RQ’s form.',
      role: 'operate',
      ...BODY,
      answer: 'none',
      status: 303,
      handle: inRqWords(async (call) => {
        const { json, fields, lists } = await readRqBody(call);
        return create(rq, call, json ?? { ...fieldsUnder(fields, 'queue'), ...listsUnder(lists, 'queue') });
      }),
    }),
    route({
      name: 'rq.new_queue_link',
      method: 'POST',
      path: '/new_queue_link',
      about: 'Creates a queue whose config.json is a link to a file on this machine.',
      role: 'operate',
      ...BODY,
      answer: 'none',
      status: 303,
      handle: inRqWords(async (call) => {
        const { fields } = await readRqBody(call);
        return link(rq, call, fieldsUnder(fields, 'queue')['json_path'] ?? '');
      }),
    }),
  ];
}

async function create(rq: RqCompat, call: Call, given: Config): Promise<Reply> {
  if (!mayName(rq, call)) return forbidden();
  const { name } = given;
  if (typeof name === 'string' && (await isThere(rq, call, name))) return fail('already created');
  if (!isRqName(name)) return fail('queue name has invalid characters');
  const text = JSON.stringify(configFor(name, given));
  await writeRqQueue(homeAt(rq.root), name, { text });
  return created(rq, call, name);
}

/** Relative paths start at the data directory. */
async function link(rq: RqCompat, call: Call, given: string): Promise<Reply> {
  if (!mayName(rq, call)) return forbidden();
  const path = isAbsolute(given) ? given : join(rq.root, given);
  const config = parseConfig(await readFile(path, 'utf8').catch(() => ''));
  if (config === null) return fail(`Couldn't parse json file (${given}).`, 404);
  const problem = linkProblem(config);
  if (problem !== null) return fail(problem);
  const name = config['name'] as string;
  if (await isThere(rq, call, name)) return fail('queue is already running');
  if (!isRqName(name)) return fail('queue name has invalid characters');
  readRqConfig(config);
  await writeRqQueue(homeAt(rq.root), name, { link: path });
  return created(rq, call, name);
}

/** The socket and the pid file are there with the answer, as in RQ. */
async function created(rq: RqCompat, call: Call, name: string): Promise<Reply> {
  await call.context.node?.reload();
  await rq.openSockets();
  return seeCreated(`/q/${name}`);
}

const mayName = (rq: RqCompat, call: Call): boolean => rq.asOpen(call).may('admin');

function forbidden(): Reply {
  return fail(
    'creating a queue names a script: this requires the role admin, or "rq": { "open": true } in node.json',
    403,
  );
}

async function isThere(rq: RqCompat, { context }: Call, name: string): Promise<boolean> {
  return rqQueue(rq, context, name).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RequestRefused) return false;
      throw error;
    },
  );
}

/** RQ's rule, within the names that a queue can have here. */
function isRqName(name: unknown): name is string {
  let isValid = typeof name === 'string' && !name.includes('.');
  queueName(name, () => void (isValid = false), 'name');
  return isValid;
}

/** Returns the whole config.json as RQ writes it: numbers as numbers, and every key. Throws for an invalid value. */
function configFor(name: string, given: Config): Config {
  const known = Object.fromEntries(Object.entries(given).filter(([key]) => KEYS.includes(key)));
  const { settings } = readRqConfig({ num_workers: '1', ...known });
  return {
    name,
    script: settings.script,
    num_workers: settings.concurrency,
    ...(known['exec_prefix'] !== undefined && { exec_prefix: known['exec_prefix'] }),
    env_vars: settings.env,
    coalesce_params: parametersOf(settings.coalesce),
    blocking_params: parametersOf(settings.keys),
    schedule: known['schedule'] ?? [],
  };
}

const KEYS = [
  'name',
  'script',
  'num_workers',
  'exec_prefix',
  'env_vars',
  'coalesce',
  ...[1, 2, 3, 4].map((number) => `coalesce_param${number}`),
  'coalesce_params',
  'blocking_params',
  'schedule',
];

function parseConfig(text: string): Config | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : null;
  } catch {
    return null;
  }
}

/** RQ's checks of a linked file, in its order and with its texts. */
function linkProblem({ name, num_workers: workers, script }: Config): string | null {
  return (
    fieldProblem('name', name, 128) ??
    (workers === undefined
      ? 'json config is missing num_workers field'
      : Number(workers) >= 1 && Number(workers) <= 128
        ? null
        : 'json config has invalid num_workers field (out of range 1..128)') ??
    fieldProblem('script', script, 1_024)
  );
}

function fieldProblem(key: string, value: unknown, longest: number): string | null {
  if (value === undefined) return `json config is missing ${key} field`;
  if (typeof value !== 'string') return `json config has invalid ${key} (not String)`;
  return value.length < 1 || value.length > longest ? `json config has invalid ${key} (size)` : null;
}
