/**
 * Assembles a running node: the node that runs the queues, its meter, and its HTTP server.
 *
 * It owns all three and stops them in reverse order: the HTTP server accepts no more requests before the node stops claiming.
 */
import { hostname } from 'node:os';
import type { Store } from '../../core/ports/store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { packageVersion } from '../../library/package-version.ts';
import type { Home } from '../../node/home.ts';
import { createNodeHealth } from '../../node/node-health.ts';
import { startNodeMetrics } from '../../node/node-metrics.ts';
import type { NodeEvent } from '../../node/open-node.ts';
import { openNode } from '../../node/open-node.ts';
import type { RateLimits } from '../../server/auth/rates.ts';
import type { TcpAddress } from '../../server/http/open-server.ts';
import { LiveSettings } from './live-settings.ts';
import { openHttp } from './serve-http.ts';
import type { Log } from './serve-log.ts';

export interface DaemonOptions {
  readonly home: Home;
  readonly store: Store;
  readonly storeFile: string | null;
  /** Null without telemetry. */
  readonly telemetry: Telemetry | null;
  readonly listen: readonly string[];
  readonly port: number;
  readonly log: Log;
  readonly requireToken: boolean;
  readonly rates: RateLimits;
  onEvent(news: NodeEvent): void;
}

export interface Daemon {
  readonly addresses: readonly TcpAddress[];
  readonly url: string;
  queues(): ReadonlyMap<string, string | null>;
  /** Returns the URL of a single login as admin. */
  loginLink(): Promise<string>;
  /** Reads node.json and the directory of queues again; returns one line a change. */
  reload(): Promise<readonly string[]>;
  /** Stops the HTTP server and nothing else. */
  shut(): Promise<void>;
  stop(): Promise<void>;
}

export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, store, storeFile, telemetry, listen, port, log, onEvent, requireToken, rates } = options;
  const version = packageVersion();
  const settings = new LiveSettings(home, port);
  const { env, pid } = process;
  // A copy, because every access to process.env is a call of getenv().
  const inherited = { ...env };
  const host = hostname();
  const metrics = startNodeMetrics({ store, folder: home.root, version, startedAt: Date.now() });
  const onNews = (news: NodeEvent): void => {
    if (news.type === 'worker') metrics.record(news.event);
    onEvent(news);
  };
  const nodeParts = { home, store, storeFile, telemetry, settings, version, host, pid, inherited };
  const node = await openNode({ ...nodeParts, onEvent: onNews }).catch((error: unknown) => {
    metrics.stop();
    throw error;
  });
  metrics.add(node);
  const runner = () => node.runnerHealth();
  const health = createNodeHealth({ store, folder: home.root, metrics: metrics.registry, runner });
  const stopNode = async (): Promise<void> => {
    metrics.stop();
    await node.stop();
  };
  const parts = { home, store, node, health, settings, version, listen, port, log, requireToken, rates };
  const http = await openHttp(parts).catch(async (error: unknown) => {
    await stopNode();
    throw error;
  });
  const stop = async (): Promise<void> => {
    try {
      await http.stop();
    } finally {
      await stopNode();
    }
  };
  await node
    .listensOn(http.addresses)
    .then(() => settings.remember())
    .catch(async (error: unknown) => {
      await stop();
      throw error;
    });
  return {
    addresses: http.addresses,
    url: settings.url,
    queues: () => node.queues(),
    loginLink: async () => `${settings.url}login#${await http.loginCode()}`,
    async reload() {
      const lines = await settings.reload();
      await node.reload();
      return lines;
    },
    shut: () => http.stop(),
    stop,
  };
}
