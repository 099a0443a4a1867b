/**
 * The other nodes of the store, asked for what they hold: each only at an address that it has proven to be its own, and
 * believed only when its answer is proven too. Answers are streams; nothing of them is held here.
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
import { isThere, readEntries } from './node-entry.ts';
import type { NodeSecret } from './node-secret.ts';

export interface OtherNodesOptions {
  readonly id: string;
  readonly store: Store;
  readonly secret: NodeSecret;
  /** The store's time. */
  now(): number;
}

export interface NodeQuestion {
  readonly method?: 'GET' | 'POST';
  /** With its query; it begins with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Nodes that are not asked (again). */
  readonly except?: ReadonlySet<string>;
}

export interface NodeAnswer {
  readonly ok: true;
  readonly node: ProvenEntry;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** `why` says for people who has it, and since when that node is gone or why it cannot be asked. */
export type NodeReply = NodeAnswer | { readonly ok: false; readonly why: string };

const TIMES = { connectMs: 3_000, idleMs: 45_000, answerMs: 20_000 };
const MOST_SOCKETS = 1_000;
const NOT_FOUND = 404;
/** What the registry says is believed for a moment: a page asks for many things at once. */
const BELIEVED_MS = 500;

export class OtherNodes {
  readonly id: string;
  readonly #options: OtherNodesOptions;
  readonly #near: Outbound = openOutbound(() => nodeDestinations(true), { maxSockets: MOST_SOCKETS });
  readonly #far: Outbound = openOutbound(() => nodeDestinations(false), { maxSockets: MOST_SOCKETS });
  #known: { readonly at: number; readonly entries: Promise<readonly ProvenEntry[]> } | null = null;

  constructor(options: OtherNodesOptions) {
    this.id = options.id;
    this.#options = options;
  }

  close(): void {
    this.#near.close();
    this.#far.close();
  }

  /** Those that are there and have proven themselves. */
  async present(): Promise<readonly ProvenEntry[]> {
    const now = this.#options.now();
    return (await this.#entries()).filter((entry) => isThere(entry, now));
  }

  /** Who this node is, for people: its name, and since when it is gone. Null for one that nobody knows any more. */
  async about(id: string): Promise<{ readonly name: string; readonly goneAt: number | null } | null> {
    const entry = (await this.#entries()).find((each) => each.id === id);
    if (entry === undefined) return null;
    const { name, stoppedAt, seenAt } = entry;
    return { name, goneAt: isThere(entry, this.#options.now()) ? null : (stoppedAt ?? seenAt) };
  }

  /** Whether all of these were forgotten: what they alone held will not come back. */
  async areForgotten(ids: readonly string[]): Promise<boolean> {
    const known = await Promise.all(ids.map(async (id) => id !== this.id && (await this.about(id)) === null));
    return ids.length > 0 && known.every((isForgotten) => isForgotten);
  }

  /** The likely holders first, then everybody else who is there; the first that has it answers. */
  async ask(holders: readonly string[], question: NodeQuestion): Promise<NodeReply> {
    const present = (await this.present()).filter(({ id }) => question.except?.has(id) !== true);
    const likely = holders.flatMap((id) => present.filter((entry) => entry.id === id));
    const troubles: string[] = [];
    for (const entry of [...likely, ...present.filter((each) => !likely.includes(each))]) {
      const reply = await this.askOne(entry, question);
      if (reply.ok) return reply;
      if (likely.includes(entry)) troubles.push(reply.why);
    }
    const [gone] = (await Promise.all(holders.map((id) => this.#whereabouts(id)))).filter((words) => words !== null);
    return { ok: false, why: troubles[0] ?? gone ?? 'no node that is there has it' };
  }

  /** A node that does not have it says so with 404, which is a no of its own. */
  async askOne(entry: ProvenEntry, question: NodeQuestion): Promise<NodeReply> {
    const urls = callable(entry, bootIdentity());
    let why = `held by node ${entry.name}, which tells no address that can be called from here; set "url" in its node.json`;
    for (const base of urls) {
      const reply = await this.#call(entry, base, question);
      if (reply.ok && reply.status !== NOT_FOUND) return reply;
      if (reply.ok) reply.body.resume();
      why = reply.ok ? `node ${entry.name} does not have it` : reply.why;
      if (reply.ok || question.signal?.aborted === true) break;
    }
    return { ok: false, why };
  }

  async #call(entry: ProvenEntry, base: URL, { method = 'GET', ...question }: NodeQuestion): Promise<NodeReply> {
    const url = new URL(`.${question.path}`, base);
    const { id, secret, now } = this.#options;
    const asked = { to: entry.id, method, path: question.path };
    const { authorization, answer } = proveCall(secret, asked, { id, now: now() });
    const outbound = entry.machine === bootIdentity() ? this.#near : this.#far;
    const headers = { ...question.headers, authorization };
    const { signal } = question;
    const opened = await outbound.open({ method, url, headers, times: TIMES, ...(signal !== undefined && { signal }) });
    if (!opened.ok)
      return { ok: false, why: `held by node ${entry.name}, which cannot be asked: ${opened.problem.message}` };
    if (opened.headers[PROOF_HEADER] === answer) return { ...opened, node: entry };
    opened.body.destroy();
    return { ok: false, why: `held by node ${entry.name}; what answers at its address is not that node` };
  }

  async #whereabouts(id: string): Promise<string | null> {
    if (id === this.id) return 'it was held by this node, and is not on its disk';
    const about = await this.about(id);
    if (about === null) return 'held by a node that was forgotten';
    return about.goneAt === null ? null : `held by node ${about.name}, gone since ${localIso(about.goneAt)}`;
  }

  /** Without this one, and without entries that no node has proven. */
  async #entries(): Promise<readonly ProvenEntry[]> {
    const at = performance.now();
    if (this.#known === null || at - this.#known.at > BELIEVED_MS)
      this.#known = { at, entries: readEntries(this.#options.store) };
    const { id, secret } = this.#options;
    return (await this.#known.entries).filter((entry) => entry.id !== id && isProvenEntry(secret, entry));
  }
}
