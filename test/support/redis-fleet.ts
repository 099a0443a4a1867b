/**
 * Several real servers with failover: a primary with replicas watched by Sentinels, or a cluster whose first node has
 * replicas. Configured to detect and repair the loss of a primary within a second or two.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';

export interface Fleet {
  /** An address of the store that names the servers which know the primary. */
  readonly address: string;
  readonly servers: readonly RedisServer[];
  /** The present primary, as the servers themselves report. */
  primary(): Promise<RedisServer>;
  /** The server that is promoted after `lost` was killed. */
  promoted(lost: RedisServer): Promise<RedisServer>;
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly replicas: number;
  /** How long a primary must be silent before it counts as lost. */
  readonly downAfterMs?: number;
  readonly server?: RedisOptions;
}

const DEADLINE_MS = 30_000;
const SENTINELS = 3;
/** Replicas are synchronised at once, without the five seconds in which a primary waits for more replicas. */
const QUICK = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1' };

export async function startSentinels({ replicas, downAfterMs = 500, server }: FleetOptions): Promise<Fleet> {
  const started: RedisServer[] = [];
  try {
    const servers = await startReplicated({ replicas, config: server ?? {}, started });
    const [primary] = servers;
    const watch = {
      'sentinel monitor main': `127.0.0.1 ${primary?.port} 2`,
      'sentinel down-after-milliseconds main': String(downAfterMs),
      'sentinel failover-timeout main': '3000',
    };
    const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => start({ sentinel: watch }, started)));
    for (const { port } of sentinels) await until('Sentinels know one another', () => knowsAll(port, replicas));
    const places = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return fleetOf(`redis+sentinel://${places}/main`, servers, started);
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

/**
 * Three nodes have slots, because a majority of those must agree on a promotion; nearly all slots belong to the first
 * one.
 */
export async function startCluster({ replicas, downAfterMs = 500, server }: FleetOptions): Promise<Fleet> {
  const started: RedisServer[] = [];
  const options: RedisOptions = {
    ...server,
    cluster: 'bare',
    config: { ...QUICK, 'cluster-node-timeout': String(downAfterMs), ...server?.config },
  };
  try {
    const servers = await Promise.all(Array.from({ length: 3 + replicas }, () => start(options, started)));
    const [first, second, third, ...copies] = servers.map(({ port }) => port);
    if (first === undefined) throw new Error('the cluster has no first node');
    const slots = [`${first} 0 16381`, `${second} 16382 16382`, `${third} 16383 16383`].map((line) => line.split(' '));
    for (const [port, from, to] of slots) await ask(Number(port), `CLUSTER ADDSLOTSRANGE ${from} ${to}`);
    // Each gets an epoch of its own; otherwise the nodes would have to agree on epochs first.
    for (const [index, { port }] of servers.entries()) await ask(port, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    for (const { port } of servers.slice(1)) await ask(port, `CLUSTER MEET 127.0.0.1 ${first}`);
    const isWhole = async (port: number) => (await ask(port, 'CLUSTER INFO')).includes('cluster_state:ok');
    for (const { port } of servers) await until('the cluster is whole', () => isWhole(port));
    const id = await ask(first, 'CLUSTER MYID');
    for (const port of copies) {
      await until('a replica joins', async () => (await ask(port, `CLUSTER REPLICATE ${id}`)) === 'OK');
    }
    await until('replicas follow', () => isFollowed(first, replicas));
    const knowsReplicas = async (port: number) =>
      (await ask(port, 'CLUSTER NODES')).split('slave').length === replicas + 1;
    for (const { port } of servers) await until('nodes know the replicas', () => knowsReplicas(port));
    const [shard, others] = [servers.filter((_, at) => at === 0 || at > 2), servers.slice(1, 3)];
    const places = [...others, ...shard].map(({ port }) => `127.0.0.1:${port}`).join(',');
    return fleetOf(`redis+cluster://${places}`, shard, started);
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

interface Replicated {
  readonly replicas: number;
  readonly config: RedisOptions;
  readonly started: RedisServer[];
}

async function startReplicated({ replicas, config, started }: Replicated): Promise<RedisServer[]> {
  const own = { ...QUICK, ...config.config };
  const primary = await start({ ...config, config: own }, started);
  const following = { ...config, config: { ...own, replicaof: `127.0.0.1 ${primary.port}` } };
  const copies = await Promise.all(Array.from({ length: replicas }, () => start(following, started)));
  await until('replicas follow', () => isFollowed(primary.port, replicas));
  return [primary, ...copies];
}

async function start(options: RedisOptions, started: RedisServer[]): Promise<RedisServer> {
  const server = await startRedis(options);
  started.push(server);
  return server;
}

async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}

async function isFollowed(port: number, replicas: number): Promise<boolean> {
  const info = await ask(port, 'INFO replication');
  return info.split('state=online').length === replicas + 1;
}

async function knowsAll(port: number, replicas: number): Promise<boolean> {
  return (await ask(port, 'INFO sentinel')).includes(`slaves=${replicas},sentinels=${SENTINELS}`);
}

const isPrimary = async ({ port }: RedisServer): Promise<boolean> =>
  (await ask(port, 'INFO replication').catch(() => '')).includes('role:master');

function fleetOf(address: string, servers: readonly RedisServer[], started: readonly RedisServer[]): Fleet {
  const find = async (from: readonly RedisServer[]): Promise<RedisServer> => {
    let found: RedisServer | undefined;
    await until('there is a primary', async () => {
      const are = await Promise.all(from.map(isPrimary));
      found = from.find((_, at) => are[at]);
      return found !== undefined;
    });
    return found as RedisServer;
  };
  return {
    address,
    servers,
    primary: () => find(servers),
    promoted: (lost) => find(servers.filter((server) => server !== lost)),
    stop: () => stopAll(started),
  };
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadlineAt = performance.now() + DEADLINE_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadlineAt) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await sleep(20);
  }
}
