/**
 * Opens the target of a command: the given address, else the socket of the node on the data directory, else the store in
 * the data directory.
 *
 * A directory without a store is refused and nothing is created: a mistyped --home must not leave an empty store behind.
 */
import { existsSync, readdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join, resolve } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { ConnectOptions, Longhaul } from '../../library/index.ts';
import type { Home } from '../../node/home.ts';
import { homeAt } from '../../node/home.ts';
import type { Args } from '../table/args.ts';
import { homeOf } from '../table/command.ts';
import type { Files } from './files.ts';

export interface Target {
  readonly longhaul: Longhaul;
  readonly files: Files;
  readonly home: Home;
  /** The address as text, for messages. */
  readonly address: string;
}

export interface Opening {
  /** Where a store that does not exist yet is created, as the first `serve` does. Default: nowhere. */
  readonly createsStore?: 'in a data directory' | 'in a new directory too' | 'anywhere';
}

export async function withTarget<T>(
  args: Args,
  use: (target: Target) => Promise<T>,
  opening: Opening = {},
): Promise<T> {
  const target = await openTarget(args, opening);
  try {
    return await use(target);
  } finally {
    await target.files.close();
    await target.longhaul.close();
  }
}

async function openTarget(args: Args, opening: Opening): Promise<Target> {
  const home = homeOf(args.text('home'));
  const address = await addressFor(args, home, opening);
  const isHttp = /^(unix|https?):/.test(address);
  const token = tokenFromEnv();
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
  if (where === 'anywhere') return true;
  if (where === undefined || /^(?!file:|sqlite:)[a-z+]+:/i.test(address)) return false;
  const { root, queues, settings } = homeAt(resolve(address));
  // A directory with one of these belongs to a node, even before its first start.
  if (existsSync(queues) || existsSync(settings)) return true;
  return where === 'in a new directory too' && (!existsSync(root) || readdirSync(root).length === 0);
}

export function tokenFromEnv(): string | undefined {
  return process.env['LONGHAUL_TOKEN'] || undefined;
}

async function addressFor(args: Args, home: Home, { createsStore }: Opening): Promise<string> {
  const named = args.text('store') ?? process.env['LONGHAUL_STORE'];
  if (named !== undefined && named !== '') return named;
  const socket = join(home.root, 'node.sock');
  if (await answers(socket)) return `unix:${socket}`;
  if (existsSync(home.root) || createsStore === 'in a new directory too' || createsStore === 'anywhere')
    return home.root;
  throw new LonghaulError(
    'refused',
    `there is no data directory at ${home.root}: create it with longhaul serve, or choose another with --home or LONGHAUL_HOME`,
  );
}

/** Returns whether a node listens on the socket. A socket that a killed node left behind refuses at once. */
function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    const end = (isListening: boolean) => (): void => {
      socket.destroy();
      resolve(isListening);
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
  const { createHttpCaller } = await import('../../library/files/http-caller.ts');
  return (await import('./http-files.ts')).openHttpFiles(createHttpCaller(address, tokenFromEnv()));
}
