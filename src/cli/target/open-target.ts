/**
 * What a command talks to: the address that was named, else the socket of the node that runs on the home, else the
 * store of the home itself.
 *
 * A folder that holds no store is refused and nothing is created: a mistyped --home must not leave an empty store behind.
 */
import { existsSync, readdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join, resolve } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { ConnectOptions, Longhaul } from '../../library/index.ts';
import type { Home } from '../../node/home.ts';
import { homeAt } from '../../node/home.ts';
import type { Call } from '../table/call.ts';
import { homeOf } from '../table/command.ts';
import type { Files } from './files.ts';

export interface Target {
  readonly longhaul: Longhaul;
  readonly files: Files;
  readonly home: Home;
  /** In words, for messages. */
  readonly address: string;
}

export interface Opening {
  /** Where a store that does not exist yet is created, as the first `serve` does. Default: nowhere. */
  readonly createsStore?: 'in a data directory' | 'in a new folder too';
}

export async function withTarget<T>(
  call: Call,
  use: (target: Target) => Promise<T>,
  opening: Opening = {},
): Promise<T> {
  const target = await openTarget(call, opening);
  try {
    return await use(target);
  } finally {
    await target.files.close();
    await target.longhaul.close();
  }
}

async function openTarget(call: Call, opening: Opening): Promise<Target> {
  const home = homeOf(call.text('home'));
  const address = await addressFor(call, home, opening);
  const isHttp = /^(unix|https?):/.test(address);
  const token = tokenGiven();
  const { connect } = await import('../../library/index.ts');
  const create = mayCreate(address, opening.createsStore);
  const options: ConnectOptions = { create, ...(isHttp && token !== undefined && { token }) };
  const longhaul = await connect(address, options);
  try {
    return { longhaul, home, address, files: await openFiles({ home, longhaul, address, isHttp }) };
  } catch (error) {
    await longhaul.close();
    throw error;
  }
}

function mayCreate(address: string, where: Opening['createsStore']): boolean {
  if (where === undefined || /^(?!file:|sqlite:)[a-z+]+:/i.test(address)) return false;
  const { root, queues, settings } = homeAt(resolve(address));
  // A folder with one of these belongs to a node, before its first start too.
  if (existsSync(queues) || existsSync(settings)) return true;
  return where === 'in a new folder too' && (!existsSync(root) || readdirSync(root).length === 0);
}

export function tokenGiven(): string | undefined {
  return process.env['LONGHAUL_TOKEN'] || undefined;
}

async function addressFor(call: Call, home: Home, { createsStore }: Opening): Promise<string> {
  const named = call.text('store') ?? process.env['LONGHAUL_STORE'];
  if (named !== undefined && named !== '') return named;
  const socket = join(home.root, 'node.sock');
  if (await answers(socket)) return `unix:${socket}`;
  if (existsSync(home.root) || createsStore === 'in a new folder too') return home.root;
  throw new LonghaulError(
    'refused',
    `there is no home folder at ${home.root}: longhaul serve makes one, --home or LONGHAUL_HOME names another`,
  );
}

/** Whether a node listens there. A socket that a killed node left behind refuses at once. */
function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    const end = (isThere: boolean) => (): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
}

interface Opened {
  readonly home: Home;
  readonly longhaul: Longhaul;
  readonly address: string;
  readonly isHttp: boolean;
}

async function openFiles({ home, longhaul, address, isHttp }: Opened): Promise<Files> {
  if (!isHttp) return (await import('./local-files.ts')).openLocalFiles(home, longhaul.store);
  const { createHttpCaller } = await import('./http-caller.ts');
  return (await import('./http-files.ts')).openHttpFiles(createHttpCaller(address, tokenGiven()));
}
