/**
 * Everything that a chaos run starts: the store, a node, workers and producers over the public interfaces, and the proxies
 * between them. All processes end with this one, however it ends.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { ConnectOptions, Longhaul } from '../../src/library/index.ts';
import { monotonicMs } from '../faults/ledger.ts';
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts';
import { startFixture } from '../support/processes.ts';
import { findPort, type RedisServer, startRedis } from '../support/redis-process.ts';
import type { StoreName } from './environment.ts';
import { Member, type RunningProcess } from './member.ts';
import { openPreloads, type Preloads } from './preloads.ts';
import { startNode } from './served-node.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { FIRST_LIMIT, JOBS, LAST_LIMIT, LAST_RATE, QUEUES, SETTINGS, writeScriptQueue } from './workload.ts';

export interface StageOptions {
  /** The root of the repository. */
  readonly root: string;
  /** A folder for this run alone. `disk` in it may be a small disk. */
  readonly folder: string;
  readonly store: StoreName;
}

interface Token {
  readonly id: string;
  readonly token: string;
}

/** The server's clock steps with those of the processes. */
const REDIS = 'redis';
const HTTP_WORKER = 'worker-http';
const NO_TOKEN: Token = { id: '', token: '' };
const READY_MS = 60_000;
const REPEAT_AFTER_MS = 100;
const DONE_MS = 60_000;
const execute = promisify(execFile);

export class Stage {
  readonly store: StoreName;
  readonly disk: string;
  readonly home: string;
  readonly ledgerFolder: string;
  readonly preloads: Preloads | null;
  readonly workers: readonly Member[];
  readonly producers: readonly Member[];
  readonly node: Member;
  redis: RedisServer | null = null;
  redisProxy: CuttingProxy | null = null;
  httpProxy!: TcpProxy;
  longhaul!: Longhaul;
  producerToken: Token = NO_TOKEN;
  /** One fault of the server, and one of the disk, at a time. */
  isRedisTaken = false;
  isDiskTaken = false;
  isTokenTaken = false;
  /** While it is set, no fault of a process begins. */
  isQuiet = false;
  readonly #options: StageOptions;
  #workerToken: Token = NO_TOKEN;
  #ownToken: Token = NO_TOKEN;
  #nodePort = 0;
  #starts = 0;

  constructor(options: StageOptions) {
    this.#options = options;
    const { folder, store } = options;
    this.store = store;
    this.disk = join(folder, 'disk');
    this.home = join(this.disk, 'home');
    this.ledgerFolder = join(folder, 'ledger');
    for (const each of [this.home, this.ledgerFolder, join(folder, 'logs')])
      mkdirSync(each, { recursive: true, mode: 0o700 });
    this.preloads = openPreloads(join(folder, 'preload'), this.disk);
    this.node = this.#member(
      'node',
      () => this.#startNode(),
      (running) => running.terminate(),
    );
    this.workers = ['worker-1', 'worker-2', HTTP_WORKER].map((name) =>
      this.#member(name, () => this.#startWorker(name), close),
    );
    this.producers = (['library', 'http', 'cli'] as const).map((way) =>
      this.#member(`producer-${way}`, () => this.#startProducer(way), close),
    );
  }

  async start(): Promise<void> {
    const { store } = this.#options;
    if (store === 'redis') {
      this.redis = await startRedis({ appendfsync: 'always', env: this.#env(REDIS) });
      this.redisProxy = await openCuttingProxy(this.redis.port);
    }
    writeScriptQueue(this.home, join(this.ledgerFolder, 'scripts.ndjson'));
    this.#nodePort = await findPort();
    this.httpProxy = await openTcpProxy(this.#nodePort);
    await this.node.start();
    this.#ownToken = await this.#createToken('harness', 'operate');
    await this.connect();
    for (const [name, settings] of Object.entries(QUEUES))
      await this.longhaul.queue(name).configure({ ...SETTINGS, ...settings });
    await this.setLimit('limited', FIRST_LIMIT);
    [this.#workerToken] = await Promise.all([this.#createToken('worker', 'operate'), this.renewProducerToken()]);
    await Promise.all([...this.workers, ...this.producers].map((member) => member.start()));
  }

  /** Opens the harness's own connection. It has no proxy between itself and the store: it must read the truth. */
  async connect(): Promise<void> {
    const library = (await import(pathToFileURL(join(this.#options.root, 'dist/library/index.js')).href)) as {
      connect(address: string, options: ConnectOptions): Promise<Longhaul>;
    };
    const files = { home: this.#library, files: `http://127.0.0.1:${this.#nodePort}`, token: this.#ownToken.token };
    this.longhaul = await library.connect(this.redis?.url ?? this.home, this.redis === null ? {} : files);
  }

  /** All supervised processes. */
  get members(): readonly Member[] {
    return [...this.workers, ...this.producers, this.node];
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** Returns the node through which a worker reaches the store; null if it needs none, or the node is down. */
  nodeOf(worker: Member): RunningProcess | null {
    return worker.name === HTTP_WORKER ? this.node.running : null;
  }

  /** Writes an entry into the harness's own ledger. */
  ledger(type: string, details: object = {}): void {
    const entry = { at: monotonicMs(), pid: process.pid, type, ...details };
    appendFileSync(join(this.ledgerFolder, 'harness.ndjson'), `${JSON.stringify(entry)}\n`);
  }

  /** Names of all processes whose clock can be set. */
  clockNames(): readonly string[] {
    return [...(this.redis === null ? [] : [REDIS]), ...this.members.map(({ name }) => name)];
  }

  /** Repeats a call of the harness until it succeeds: faults may hit it too. */
  async untilDone<T>(what: string, call: () => Promise<T>): Promise<T> {
    for (const endAt = monotonicMs() + DONE_MS; ; await sleep(REPEAT_AFTER_MS)) {
      try {
        return await call();
      } catch (error) {
        if (monotonicMs() > endAt) throw new Error(`could not ${what}`, { cause: error });
      }
    }
  }

  async setLimit(queue: string, value: number): Promise<void> {
    const at = monotonicMs();
    await this.untilDone('change a limit', () => this.longhaul.queue(queue).configure({ maxRunning: value }));
    this.ledger('limit', { queue, value, at, until: monotonicMs() });
  }

  /** Ends the limits that faults have left, so that the queues drain. */
  async endLimits(): Promise<void> {
    await this.setLimit('limited', LAST_LIMIT);
    await this.untilDone('change the rate', () => this.longhaul.queue('rated').configure({ rate: LAST_RATE }));
  }

  /** Runs a command on the node. With the data directory alone, it would use a store of its own while the node is down. */
  async cli(...args: readonly string[]): Promise<string> {
    const program = join(this.#options.root, 'dist/cli/main.js');
    const { stdout } = await execute(
      process.execPath,
      [program, ...args, '--store', `unix:${join(this.home, 'node.sock')}`],
      { timeout: 20_000 },
    );
    return stdout;
  }

  /** Reads from the node without a proxy. */
  async get(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.#ownToken.token}` };
    const response = await fetch(`http://127.0.0.1:${this.#nodePort}${path}`, { headers });
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
    return await response.text();
  }

  async renewProducerToken(): Promise<void> {
    this.producerToken = await this.#createToken('producer', 'submit');
    for (const { running } of this.producers) running?.send({ token: this.producerToken.token });
  }

  /** Ends all producers; resolves when their last adds are answered or given up. */
  async closeProducers(): Promise<void> {
    await Promise.all(this.producers.map((producer) => producer.close()));
  }

  /** Ends workers and node in good order. Returns those that did not end. */
  async closeWorkers(): Promise<readonly string[]> {
    const closed = await Promise.all(this.workers.map(async (member) => ((await member.close()) ? [] : [member.name])));
    return closed.flat();
  }

  /** Ends everything at once, whatever state it is in. */
  async kill(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await this.httpProxy?.close();
    await this.longhaul?.close().catch(() => undefined);
    await this.redisProxy?.close();
    await this.redis?.stop();
  }

  #createToken(name: string, role: string): Promise<Token> {
    return this.untilDone('create a token', async () => {
      const made = JSON.parse(await this.cli('token', 'create', name, '--role', role, '--json')) as Token;
      return { id: made.id, token: made.token };
    });
  }

  #member(
    name: string,
    start: () => Promise<RunningProcess>,
    end: (running: RunningProcess) => Promise<unknown>,
  ): Member {
    return new Member({
      name,
      start,
      close: end,
      onExit: (child, { code, signal }) =>
        this.ledger('exited', { child, error: `${name}: ${signal ?? `code ${code}`}` }),
    });
  }

  #startNode(): Promise<RunningProcess> {
    const { root, folder } = this.#options;
    const store = this.redisProxy === null ? {} : { LONGHAUL_STORE: this.redisProxy.url };
    return startNode({
      program: join(root, 'dist/cli/main.js'),
      args: ['serve', '--home', this.home, '--port', String(this.#nodePort), '--require-token'],
      env: { ...this.#env('node'), ...store },
      log: join(folder, 'logs', 'node.log'),
    });
  }

  async #startWorker(name: string): Promise<RunningProcess> {
    const overHttp = {
      address: `http://127.0.0.1:${this.httpProxy.port}`,
      connect: { token: this.#workerToken.token },
    };
    const plan = {
      ...(name === HTTP_WORKER ? overHttp : this.#direct()),
      ledger: this.ledgerFolder,
      queues: Object.keys(QUEUES),
      // With a file of SQLite, the default lets handlers continue: one that is cut off from it could overlap the next run.
      work: { concurrency: 8, onUnreachable: 'stop' },
    };
    return startReady('chaos-worker.mjs', plan, this.#env(name));
  }

  async #startProducer(way: 'library' | 'http' | 'cli'): Promise<RunningProcess> {
    this.#starts += 1;
    const plan = {
      way,
      ...this.#direct(),
      ledger: this.ledgerFolder,
      prefix: `${way}-${this.#starts}`,
      jobs: JOBS[way],
      ...{
        // Many at once: stores take them together.
        library: { everyMs: 15, atOnce: 300 },
        http: { everyMs: 150, atOnce: 20 },
        cli: { everyMs: 3_000, atOnce: 1 },
      }[way],
      url: `http://127.0.0.1:${this.httpProxy.port}`,
      token: this.producerToken.token,
      cli: join(this.#options.root, 'dist/cli/main.js'),
      home: this.home,
    };
    const store = this.redisProxy === null ? {} : { LONGHAUL_STORE: this.redisProxy.url };
    const env = { ...this.#env(`producer-${way}`), ...store };
    return startReady('chaos-producer.mjs', plan, env);
  }

  /** The data directory of the processes that use Redis without a node. */
  get #library(): string {
    return join(this.disk, 'library');
  }

  /** The store without a node in between. */
  #direct(): { readonly address: string; readonly connect: ConnectOptions } {
    if (this.redisProxy === null) return { address: this.home, connect: {} };
    return { address: this.redisProxy.url, connect: { home: this.#library } };
  }

  /** The mark is how the run finds processes that are left. */
  #env(name: string): Readonly<Record<string, string>> {
    return { LONGHAUL_CHAOS: this.#options.folder, ...this.preloads?.env(name) };
  }
}

function close(running: RunningProcess): Promise<unknown> {
  running.send({});
  return running.ended;
}

/** Starts a process and waits until it is ready. One that takes too long is killed: its member starts another. */
async function startReady(file: string, plan: object, env: Readonly<Record<string, string>>): Promise<RunningProcess> {
  const fixture = await startFixture(file, [JSON.stringify(plan)], { env });
  try {
    await fixture.next(({ type }) => type === 'ready', READY_MS);
  } catch (error) {
    await fixture.kill9();
    throw error;
  }
  return fixture;
}
