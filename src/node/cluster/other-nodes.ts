/**
 * The other nodes of the store, and calls to them. An address is called only if its entry has a valid proof, and an
 * answer is used only if it has one too. Answers are streams; nothing is buffered here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Store } from '../../core/ports/store.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { bootIdentity } from '../../runner/process-tree/process-stat.ts';
import { localIso } from '../../wire/spans.ts';
import { callable, isProvenEntry, nodeDestinations } from './node-addresses.ts';
import { PROOF_HEADER, proveCall } from './node-credential.ts';
import type { ProvenEntry } from './node-entry.ts';
import { isPresent, readEntries } from './node-entry.ts';
import type { NodeSecret } from './node-secret.ts';

export interface OtherNodesOptions {
  readonly id: string;
  readonly store: Store;
  readonly secret: NodeSecret;
  /** The store's time. */
  now(): number;
}

export interface NodeRequest {
  readonly method?: 'GET' | 'POST';
  /** Path with query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Nodes to skip. */
  readonly except?: ReadonlySet<string>;
}

export interface NodeAnswer {
  readonly ok: true;
  readonly node: ProvenEntry;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** `why` tells the user which node has it, and since when that node is gone or why it cannot be called. */
export type NodeReply = NodeAnswer | { readonly ok: false; readonly why: string };

const TIMES = { connectMs: 3_000, idleMs: 45_000, answerMs: 20_000 };
const MAX_SOCKETS = 1_000;
const NOT_FOUND = 404;
/** Entries are cached briefly: a page makes many requests at once. */
const CACHE_MS = 500;

export class OtherNodes {
  readonly id: string;
  readonly #options: OtherNodesOptions;
  readonly #sameMachine: Outbound = openOutbound(() => nodeDestinations(true), { maxSockets: MAX_SOCKETS });
  readonly #remote: Outbound = openOutbound(() => nodeDestinations(false), { maxSockets: MAX_SOCKETS });
  #cache: { readonly at: number; readonly entries: Promise<readonly ProvenEntry[]> } | null = null;

  constructor(options: OtherNodesOptions) {
    this.id = options.id;
    this.#options = options;
  }

  close(): void {
    this.#sameMachine.close();
    this.#remote.close();
  }

  /** Returns the nodes that are present and have a valid proof. */
  async present(): Promise<readonly ProvenEntry[]> {
    const now = this.#options.now();
    return (await this.#entries()).filter((entry) => isPresent(entry, now));
  }

  /** Returns a node's name, and since when it is gone; null for a node that is not known. */
  async about(id: string): Promise<{ readonly name: string; readonly goneAt: number | null } | null> {
    const entry = (await this.#entries()).find((each) => each.id === id);
    if (entry === undefined) return null;
    const { name, stoppedAt, seenAt } = entry;
    return { name, goneAt: isPresent(entry, this.#options.now()) ? null : (stoppedAt ?? seenAt) };
  }

  /** Returns whether all of these nodes were forgotten: files that only they had are lost. */
  async areForgotten(ids: readonly string[]): Promise<boolean> {
    const known = await Promise.all(ids.map(async (id) => id !== this.id && (await this.about(id)) === null));
    return ids.length > 0 && known.every((isForgotten) => isForgotten);
  }

  /** Asks the likely holders first, then every other present node. The first that has it answers. */
  async ask(holders: readonly string[], request: NodeRequest): Promise<NodeReply> {
    const present = (await this.present()).filter(({ id }) => request.except?.has(id) !== true);
    const likely = holders.flatMap((id) => present.filter((entry) => entry.id === id));
    const problems: string[] = [];
    for (const entry of [...likely, ...present.filter((each) => !likely.includes(each))]) {
      const reply = await this.askOne(entry, request);
      if (reply.ok) return reply;
      if (likely.includes(entry)) problems.push(reply.why);
    }
    const [gone] = (await Promise.all(holders.map((id) => this.#lastKnown(id)))).filter((text) => text !== null);
    return { ok: false, why: problems[0] ?? gone ?? 'no present node has it' };
  }

  /** Calls one node. A node that does not have it answers 404. */
  async askOne(entry: ProvenEntry, request: NodeRequest): Promise<NodeReply> {
    const urls = callable(entry, bootIdentity());
    let why = `held by node ${entry.name}, which has no address that can be called from here: set "url" in its node.json`;
    for (const base of urls) {
      const reply = await this.#call(entry, base, request);
      if (reply.ok && reply.status !== NOT_FOUND) return reply;
      if (reply.ok) reply.body.resume();
      why = reply.ok ? `node ${entry.name} does not have it` : reply.why;
      if (reply.ok || request.signal?.aborted === true) break;
    }
    return { ok: false, why };
  }

  async #call(entry: ProvenEntry, base: URL, { method = 'GET', ...request }: NodeRequest): Promise<NodeReply> {
    const url = new URL(`.${request.path}`, base);
    const { id, secret, now } = this.#options;
    const asked = { to: entry.id, method, path: request.path };
    const { authorization, answer } = proveCall(secret, asked, { id, now: now() });
    const outbound = entry.machine === bootIdentity() ? this.#sameMachine : this.#remote;
    const headers = { ...request.headers, authorization };
    const { signal } = request;
    const opened = await outbound.open({ method, url, headers, times: TIMES, ...(signal !== undefined && { signal }) });
    if (!opened.ok)
      return { ok: false, why: `held by node ${entry.name}, which cannot be called: ${opened.problem.message}` };
    if (opened.headers[PROOF_HEADER] === answer) return { ...opened, node: entry };
    opened.body.destroy();
    return { ok: false, why: `held by node ${entry.name}; what answers at its address is not that node` };
  }

  async #lastKnown(id: string): Promise<string | null> {
    if (id === this.id) return 'it was held by this node, and is not on its disk';
    const about = await this.about(id);
    if (about === null) return 'held by a node that was forgotten';
    return about.goneAt === null ? null : `held by node ${about.name}, gone since ${localIso(about.goneAt)}`;
  }

  /** Returns the entries of other nodes with a valid proof. */
  async #entries(): Promise<readonly ProvenEntry[]> {
    const at = performance.now();
    if (this.#cache === null || at - this.#cache.at > CACHE_MS)
      this.#cache = { at, entries: readEntries(this.#options.store) };
    const { id, secret } = this.#options;
    return (await this.#cache.entries).filter((entry) => entry.id !== id && isProvenEntry(secret, entry));
  }
}
