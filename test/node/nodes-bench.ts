/**
 * Helpers for tests of several nodes: `longhaul serve` processes, each with its own data directory, all on one Redis,
 * called over HTTP.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import type { NodeView } from '../../src/wire/node-view.ts';
import { Bench, eventually, type Served } from '../processes/scripts-workbench.ts';
import { type Answer, get, post, urlOf } from './serve-bench.ts';

export class NodeBench {
  readonly name: string;
  readonly bench = new Bench();
  readonly #store: string;
  #served: Served | null = null;
  url = '';

  constructor(name: string, store: string, settings: object = {}) {
    this.name = name;
    this.#store = store;
    writeFileSync(join(this.bench.home, 'node.json'), JSON.stringify({ name, ...settings }));
  }

  get isUp(): boolean {
    return this.#served !== null;
  }

  get served(): Served {
    if (this.#served === null) throw new Error(`node ${this.name} does not run`);
    return this.#served;
  }

  async start(): Promise<void> {
    this.#served = await this.bench.serve([], { LONGHAUL_STORE: this.#store });
    this.url = await urlOf(this.#served);
  }

  async kill(): Promise<void> {
    const { served } = this;
    this.#served = null;
    await served.kill9();
  }

  async stop(): Promise<void> {
    const { served } = this;
    this.#served = null;
    await served.terminate();
  }

  get(path: string): Promise<Answer> {
    return get(this.url, path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return post(this.url, path, body);
  }

  async json<T>(path: string): Promise<T> {
    const { status, text } = await this.get(path);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return JSON.parse(text) as T;
  }

  async nodes(): Promise<readonly NodeView[]> {
    return (await this.json<{ nodes: readonly NodeView[] }>('/api/nodes')).nodes;
  }

  /** Adds a job like a producer: a draft, its files, then the commit. */
  async addWithFile(queue: string, id: string, file: { name: string; bytes: Uint8Array | string }): Promise<void> {
    const added = await this.post('/api/jobs', { id, queue, data: {}, draft: true });
    if (added.status !== 201 && added.status !== 200)
      throw new Error(`the draft was answered ${added.status}: ${added.text}`);
    const sent = await fetch(new URL(`/api/jobs/${id}/attachments/${file.name}`, this.url), {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: file.bytes,
    });
    // Committed by an earlier try whose answer was lost.
    if (sent.status === 409) return;
    if (sent.status !== 201) throw new Error(`the file was answered ${sent.status}: ${await sent.text()}`);
    const committed = await this.post(`/api/jobs/${id}/commit`);
    if (committed.status !== 200) throw new Error(`the commit was answered ${committed.status}: ${committed.text}`);
  }
}

export async function untilState(longhaul: Longhaul, id: string, state: string, ms = 30_000): Promise<void> {
  await eventually(
    async () => (await longhaul.find(id))?.state,
    (now) => now === state,
    ms,
  );
}

export const openStore = (url: string): Promise<Longhaul> => connect(url);
