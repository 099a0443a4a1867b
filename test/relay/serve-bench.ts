/**
 * Nodes as processes that relay to one another: `longhaul serve` each, called over its socket, so that its network does
 * not matter. Nothing is left when the test file is over.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endAllOf, eventually } from '../processes/runner-workbench.ts';
import { cli } from '../processes/scripts-workbench.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import type { GuardedProcess } from '../support/guarded-process.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import type { SentFile } from './relay-bench.ts';

export interface SeenJob {
  readonly id: string;
  readonly state: string;
  readonly data: unknown;
  readonly forwardedTo: string | null;
  readonly failures: number;
  readonly crashes: number;
  readonly failure: { readonly group: string; readonly message: string } | null;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** Short retries and high concurrency, to keep tests fast. */
const RELAY = { backoff: { kind: 'fixed', delay: '100ms', jitter: 0 }, concurrency: 16 };

export class ServedNode {
  readonly home = mkdtempSync(join(tmpdir(), 'longhaul-relayed-'));
  readonly #prefix: readonly string[];
  #process: GuardedProcess | null = null;
  port = 0;

  /** `prefix`: a command prefix, such as `ip netns exec a`. */
  constructor(file: object, prefix: readonly string[] = []) {
    this.#prefix = prefix;
    mkdirSync(join(this.home, 'queues'), { mode: 0o700 });
    writeFileSync(join(this.home, 'node.json'), JSON.stringify(file), { mode: 0o600 });
    writeFileSync(join(this.home, 'queues', 'relay.json'), JSON.stringify(RELAY));
    atTheEnd(() => this.close());
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The same port after a restart, so that other nodes find it. */
  async start(more: readonly string[] = []): Promise<void> {
    const commandLine = [process.execPath, cli, 'serve', '--home', this.home, '--port', String(this.port), ...more];
    const [command = '', ...args] = [...this.#prefix, ...commandLine];
    const child = await spawnGuarded(command, args, { env: { ...process.env, LONGHAUL_LOG_FORMAT: 'pretty' } });
    this.#process = child;
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    const line = await firstLine(child, /web UI and API/).catch(() => {
      throw new Error(`the node did not start: ${complaints}`);
    });
    this.port = Number(/:(\d+)\/?\s*$/.exec(line)?.[1] ?? this.port);
  }

  async kill9(): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
  }

  ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const isBytes = body instanceof Uint8Array;
    const type = isBytes ? 'application/octet-stream' : 'application/json';
    const sent = body === undefined ? undefined : isBytes ? body : JSON.stringify(body);
    const headers = { host: 'localhost', ...(sent !== undefined && { 'content-type': type }) };
    const options = { method, path, headers, socketPath: join(this.home, 'node.sock'), agent: false as const };
    return new Promise((resolve, reject) => {
      const asked = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, json: text === '' ? null : (JSON.parse(text) as unknown) });
        });
      });
      asked.on('error', reject);
      asked.end(sent);
    });
  }

  /** The same, through crashes of the node: everything here can be repeated. */
  async insist(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await eventually(
      () => this.ask(method, path, body).catch(() => null),
      (each) => each !== null && each.status < 500,
      60_000,
    );
    if (answer === null || answer.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async knows(queue: string): Promise<void> {
    await this.insist('POST', '/api/queues', { name: queue });
  }

  async relay(id: string, to: string, files: readonly SentFile[]): Promise<void> {
    await this.insist('POST', '/api/jobs', { id, queue: to, data: id, draft: true });
    for (const { name, bytes } of files) await this.insist('PUT', `/api/jobs/${id}/attachments/${name}`, bytes);
    await this.insist('POST', `/api/jobs/${id}/commit`);
  }

  async find(id: string): Promise<SeenJob | null> {
    const answer = await this.ask('GET', `/api/jobs/${id}`).catch(() => null);
    return answer?.status === 200 ? (answer.json as SeenJob) : null;
  }

  until(id: string, state: string, ms = 60_000): Promise<SeenJob | null> {
    return eventually(
      () => this.find(id),
      (job) => job?.state === state,
      ms,
    );
  }

  async jobsIn(queue: string): Promise<readonly SeenJob[]> {
    const { json } = await this.insist('GET', `/api/jobs?queue=${queue}&limit=1000`);
    return (json as { jobs: readonly SeenJob[] }).jobs;
  }

  /** Name and hash of each file, from the blob on disk. */
  async filesOf(id: string): Promise<Readonly<Record<string, string>>> {
    const { json } = await this.insist('GET', `/api/jobs/${id}/attachments`);
    const { attachments } = json as { attachments: readonly { name: string; sha256: string }[] };
    return Object.fromEntries(
      attachments.map(({ name, sha256 }) => {
        const bytes = readFileSync(join(this.home, 'blobs', sha256.slice(0, 2), sha256));
        return [name, createHash('sha256').update(bytes).digest('hex')];
      }),
    );
  }

  async close(): Promise<void> {
    await this.kill9();
    await endAllOf(this.home);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

function firstLine(child: GuardedProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => pattern.test(line) && resolve(line));
    lines.on('close', () => reject(new Error('the process ended before the expected line')));
  });
}
