/**
 * Shared by the tests of files, logs and streams: a data directory with queues, a node with HTTP as a separate process,
 * requests to it, and readers of its streams. Everything is removed at the end of the test file.
 */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { endAllOf } from '../processes/runner-workbench.ts';
import type { Fixture } from '../support/processes.ts';
import { startFixture } from '../support/processes.ts';
import { readEvents, type StreamReader } from './stream-reader.ts';

export { eventually } from '../processes/runner-workbench.ts';

export interface Asked {
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Over the socket, as the admin. */
  readonly isAdmin?: boolean;
  /** Sent unchanged, as application/octet-stream. */
  readonly bytes?: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly json: unknown;
}

const run = promisify(execFile);

export class FilesBench {
  readonly home = mkdtempSync(join(tmpdir(), 'longhaul-files-'));
  readonly queues = join(this.home, 'queues');
  readonly #readers: StreamReader[] = [];
  #node: Fixture | null = null;
  port = 0;

  constructor() {
    mkdirSync(this.queues, { mode: 0o700 });
    afterAll(() => this.close());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#node?.pid ?? 0;
  }

  /** The errors that the node logged. */
  get troubles(): readonly unknown[] {
    return (this.#node?.messages ?? []).filter(({ type }) => type === 'trouble');
  }

  /** Creates a queue with a script (bash by default) and its settings file. */
  queue(name: string, text: string, settings?: object): void {
    if (settings !== undefined) writeFileSync(join(this.queues, `${name}.json`), JSON.stringify(settings));
    const path = join(this.queues, `.${name}~`);
    writeFileSync(path, text.startsWith('#!') ? text : `#!/bin/bash\n${text}\n`, { mode: 0o755 });
    chmodSync(path, 0o755);
    renameSync(path, join(this.queues, name));
  }

  /** Uses the same port after a restart, so that readers can reconnect. */
  async start(): Promise<void> {
    this.#node = await startFixture('files-node.mjs', [this.home, String(this.port)]);
    this.port = Number((await this.#node.next(({ type }) => type === 'listening', 30_000))['port']);
  }

  async kill9(): Promise<void> {
    await this.#node?.kill9();
  }

  async terminate(): Promise<void> {
    await this.#node?.terminate();
  }

  ask(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    const type = asked.json === undefined ? 'application/octet-stream' : 'application/json';
    const isBody = asked.json !== undefined || asked.bytes !== undefined;
    const headers = { ...(isBody && { 'content-type': type }), ...asked.headers };
    return new Promise((resolve, reject) => {
      const where = asked.isAdmin
        ? { socketPath: join(this.home, 'node.sock') }
        : { host: '127.0.0.1', port: this.port };
      const options = { method, ...where, path, agent: false as const, headers };
      const sent = request(options, (response) => void collect(response).then(resolve, reject));
      sent.on('error', reject);
      if (asked.json !== undefined) sent.end(JSON.stringify(asked.json));
      else if (asked.bytes === undefined || asked.bytes instanceof Uint8Array) sent.end(asked.bytes);
      else pipeline(Readable.from(asked.bytes, { objectMode: false }), sent).catch(reject);
    });
  }

  /** Makes a call of the store port. */
  async call<T>(name: string, argument: unknown): Promise<T> {
    const { status, json } = await this.ask('POST', `/api/store/${name}`, { json: { argument } });
    if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(json)}`);
    return json as T;
  }

  async add(queue: string, id: string, more: object = {}): Promise<string> {
    const [added] = await this.call<readonly { ok: boolean }[]>('add', [{ id, queue, data: 'null', ...more }]);
    if (added?.ok !== true) throw new Error(`${id} was not added: ${JSON.stringify(added)}`);
    return id;
  }

  async stateOf(id: string): Promise<string | null> {
    const [job] = await this.call<readonly ({ state: string } | null)[]>('find', [[id]].flat());
    return job?.state ?? null;
  }

  /** Reads the server-sent events of a path until the reader is closed. */
  async read(path: string, headers: OutgoingHttpHeaders = {}): Promise<StreamReader> {
    const reader = await readEvents({ host: '127.0.0.1', port: this.port, path, headers });
    this.#readers.push(reader);
    return reader;
  }

  /** Runs a program and returns its output. */
  async run(program: string, args: readonly string[], timeoutMs = 60_000): Promise<string> {
    const { stdout } = await run(program, args, { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024, cwd: this.home });
    return stdout;
  }

  log(id: string, attempt = 1): string {
    const path = join(this.home, 'jobs', id, 'attempts', String(attempt), 'log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Returns the peak growth of the node's memory during `work`, in bytes. */
  async growthDuring(work: () => Promise<void>): Promise<number> {
    // Resets the peak memory of the process.
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
    const before = this.#memory('VmRSS');
    await work();
    return this.#memory('VmHWM') - before;
  }

  #memory(field: string): number {
    return 1024 * Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]);
  }

  async close(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await this.#node?.kill9();
    await endAllOf(this.home);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

async function collect(response: IncomingMessage): Promise<Answer> {
  const bytes = Buffer.concat((await response.toArray()) as Buffer[]);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, json: parsed(bytes.toString()) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
