/** A server with a memory store, on free ports and its own socket, stopped at the end of its test. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ClockSource } from '../../src/core/lifecycle/clock.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { AccessOptions } from '../../src/server/auth/access.ts';
import { openAccess } from '../../src/server/auth/access.ts';
import type { Guard } from '../../src/server/auth/guard.ts';
import type { ConnectionLimits } from '../../src/server/http/connection-limit.ts';
import { openServer } from '../../src/server/http/open-server.ts';
import type { Route } from '../../src/server/http/route.ts';
import { createRouteTable, ROUTES } from '../../src/server/http/route-table.ts';
import type { StreamBuffers } from '../../src/server/streams/stream-buffers.ts';
import type { ServerContext } from '../../src/server/views/context.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import type { Role } from '../../src/wire/role.ts';
import { idSource } from '../../src/worker/loop/id-source.ts';
import { SettingsCache } from '../../src/worker/loop/settings-cache.ts';
import { answerCheck } from './fits-route.ts';

export interface TrialServer {
  readonly store: Store;
  readonly port: number;
  readonly socket: string;
  /** The errors that the server logged. */
  readonly troubles: readonly unknown[];
  /** The messages of these errors. */
  readonly logged: readonly string[];
  stop(): Promise<void>;
  /** Sends a request over TCP or over the socket. */
  ask(method: string, path: string, more?: Asked): Promise<Answer>;
}

export interface Asked {
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Buffer;
  readonly over?: 'tcp' | 'socket';
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The answer as JSON; undefined if it is not JSON. */
  readonly json: unknown;
}

export interface TrialOptions {
  readonly store?: Store;
  readonly clock?: ClockSource;
  readonly routes?: readonly Route[];
  readonly context?: Partial<ServerContext>;
  /** Every caller gets this role, over every listener. */
  readonly role?: Role;
  readonly requireToken?: boolean;
  /** Further access options. */
  readonly access?: Partial<AccessOptions>;
  readonly connections?: ConnectionLimits;
  readonly buffers?: StreamBuffers;
  /** Default: any free port. */
  readonly port?: number;
}

export async function startTrial(options: TrialOptions = {}): Promise<TrialServer> {
  const trial = await openTrial(options);
  onTestFinished(() => trial.stop());
  return trial;
}

/** Opens a server that the caller stops. */
export async function openTrial({ clock = 'store', routes = ROUTES, ...options }: TrialOptions): Promise<TrialServer> {
  const store = options.store ?? openMemoryStore({ clock });
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-server-'));
  const socket = join(folder, 'node.sock');
  const troubles: unknown[] = [];
  const logged: string[] = [];
  const settings = new SettingsCache(store);
  const onTrouble = (message: string, error: unknown) => void (troubles.push(error), logged.push(message));
  const { requireToken = false, role } = options;
  const access = openAccess({ store, now: Date.now, requireToken, onTrouble, ...options.access });
  const server = await openServer({
    context: {
      store: access.store,
      clock,
      settings,
      node: null,
      health: null,
      page: null,
      version: '0.0.0',
      newId: idSource(),
      now: Date.now,
      ...options.context,
    },
    table: createRouteTable(routes),
    guard: role === undefined ? access.guard : withRole(access.guard, role),
    onAnswer: access.onAnswer,
    ...(options.connections !== undefined && { connections: options.connections }),
    ...(options.buffers !== undefined && { buffers: options.buffers }),
    onTrouble,
    tcp: [{ host: '127.0.0.1', port: options.port ?? 0 }],
    socket,
  });
  const port = server.addresses[0]?.port ?? 0;
  const mustFit = answerCheck(routes);
  return {
    store,
    port,
    socket,
    troubles,
    logged,
    async stop() {
      await server.stop();
      access.stop();
      settings.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
    async ask(method, path, more = {}) {
      const where = more.over === 'socket' ? { socketPath: socket } : { host: '127.0.0.1', port };
      const answer = await ask({ method, path, ...where }, more);
      mustFit(method, path, answer);
      return answer;
    },
  };
}

/** Admits every caller as over the socket, with the given role. */
function withRole(guard: Guard, role: Role): Guard {
  return {
    screen: (request, listener) => guard.screen(request, listener),
    async admit(request, entry) {
      const admission = await guard.admit(request, { ...entry, listener: 'socket' });
      return { ...admission, principal: { ...admission.principal, role } };
    },
  };
}

function ask(
  where: { method: string; path: string; host?: string; port?: number; socketPath?: string },
  more: Asked,
): Promise<Answer> {
  const body = more.body === undefined ? more.raw : JSON.stringify(more.body);
  const type = more.body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, agent: false, headers: { ...type, ...more.headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
