/**
 * The attachments of a job: one record each, which names the blob by its hash, and a reference record that keeps the
 * blob. The content is in `blobs/`.
 *
 * Invariant: a reference is written before its attachment and deleted after it, so that every attachment has the
 * reference that keeps its blob.
 */
import { mkdir } from 'node:fs/promises';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { PutRecord, StoredRecord } from '../../core/ports/records.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { checkAttachmentName } from '../outputs/attachment-name.ts';

export const ATTACHMENT_RECORD = 'attachment';
/** Records of running uploads (attachment-uploads.ts). */
export const UPLOAD_RECORD = 'upload';
const REFERENCE_RECORD = 'blob-reference';

export interface Attachment {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  /** `in`: added with the job. `out`: created by an attempt. */
  readonly direction: 'in' | 'out';
}

/** Access to the blobs of other nodes that share the store. */
export interface SharedFiles {
  readonly node: string;
  /** Fetches a file to this node. Returns null on success, otherwise the reason. */
  fetch(wanted: {
    readonly id: string;
    readonly file: Attachment;
    readonly holders: readonly string[];
    readonly signal: AbortSignal;
  }): Promise<string | null>;
  /** Reports whether an operator has declared all of these nodes lost. */
  isLost(holders: readonly string[]): Promise<boolean>;
}

export interface MissingFile {
  readonly words: string;
  /** The nodes that had the file will not return. */
  readonly isLost: boolean;
}

interface Holder {
  readonly node?: string;
}

const PAGE = 500;

export async function listAttachments({ records }: Store, id: string): Promise<readonly Attachment[]> {
  const found: Attachment[] = [];
  for (let after: string | undefined; ; ) {
    const query = { kind: ATTACHMENT_RECORD, prefix: `${id}/`, limit: PAGE, ...(after !== undefined && { after }) };
    const page = await records.list(query);
    found.push(...page.map(({ value }) => JSON.parse(value) as Attachment));
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}

export class Attachments {
  readonly #store: Store;
  readonly #blobs: Blobs;
  readonly #shared: SharedFiles | null;

  constructor(store: Store, blobs: Blobs, shared: SharedFiles | null = null) {
    this.#store = store;
    this.#blobs = blobs;
    this.#shared = shared;
  }

  list(id: string): Promise<readonly Attachment[]> {
    return listAttachments(this.#store, id);
  }

  /** Writes an attachment. It replaces one of the same name and direction: an output never replaces an input. */
  async put(id: string, attachment: Attachment): Promise<void> {
    for (const part of attachment.name.split('/')) checkAttachmentName(part);
    const before = await this.#record(id, attachment);
    await this.#refer(id, attachment);
    await this.#store.records.put(recordOf(id, attachment));
    await this.#release(id, attachment, before);
  }

  /**
   * Writes an attachment unless the check refuses it. The check runs after the present attachment was read, and the write
   * takes effect only if no other caller replaced it since. So a stale attempt, whose check was slow, never replaces a
   * file of the attempt after it. A refused one may leave its reference, which keeps a blob too long but never too short.
   */
  async putIf<No>(id: string, attachment: Attachment, check: () => Promise<No | null>): Promise<No | null> {
    for (const part of attachment.name.split('/')) checkAttachmentName(part);
    for (;;) {
      const before = await this.#record(id, attachment);
      const refused = await check();
      if (refused !== null) return refused;
      await this.#refer(id, attachment);
      const ifVersion = before?.version ?? 0;
      const written = await this.#store.records.put({ ...recordOf(id, attachment), ifVersion });
      if (!written.ok) continue;
      await this.#release(id, attachment, before);
      return null;
    }
  }

  #record(id: string, attachment: Attachment): Promise<StoredRecord | null> {
    return this.#store.records.get(ATTACHMENT_RECORD, keyOf(id, attachment));
  }

  async #refer(id: string, attachment: Attachment): Promise<void> {
    const value = JSON.stringify(await this.#holder(attachment));
    await this.#store.records.put({ kind: REFERENCE_RECORD, key: referenceOf(id, attachment), value });
    await this.#blobs.keep(attachment.sha256);
  }

  /** Deletes the reference of the attachment that was replaced. */
  async #release(id: string, attachment: Attachment, before: StoredRecord | null): Promise<void> {
    const old = before === null ? null : (JSON.parse(before.value) as Attachment);
    if (old !== null && old.sha256 !== attachment.sha256)
      await this.#store.records.delete(REFERENCE_RECORD, referenceOf(id, old));
  }

  async #holder(attachment: Attachment): Promise<Holder> {
    return this.#shared !== null && (await this.isHere(attachment)) ? { node: this.#shared.node } : {};
  }

  isHere({ sha256 }: Attachment): Promise<boolean> {
    return this.#blobs.stat(sha256).then((found) => found !== null);
  }

  /** Returns the nodes that have this content, as far as recorded. */
  async holders({ sha256 }: Attachment): Promise<readonly string[]> {
    const records = await this.#store.records.list({ kind: REFERENCE_RECORD, prefix: `${sha256}/`, limit: PAGE });
    const nodes = records.map(({ value }) => (JSON.parse(value) as Holder).node);
    return [...new Set(nodes.filter((node) => node !== undefined))];
  }

  /**
   * Fetches files that are not on this disk from other nodes. Returns null when all are here, otherwise the first
   * missing file.
   */
  async bring(id: string, files: readonly Attachment[], signal: AbortSignal): Promise<MissingFile | null> {
    if (this.#shared === null) return null;
    for (const file of files) {
      if (await this.isHere(file)) continue;
      const holders = await this.holders(file);
      const reason = await this.#shared.fetch({ id, file, holders, signal });
      const words = `attachment ${file.name}: ${reason}`;
      if (reason !== null) return { words, isLost: await this.#shared.isLost(holders) };
    }
    return null;
  }

  /** Copies the inputs of a job to another one: only records are written. */
  async copy(from: string, to: string): Promise<void> {
    for (const attachment of await this.list(from)) if (attachment.direction === 'in') await this.put(to, attachment);
  }

  /** Returns an attachment. Without a direction, an output takes precedence over an input of the same name. */
  async get(id: string, name: string, direction?: Attachment['direction']): Promise<Attachment | null> {
    for (const each of direction === undefined ? (['out', 'in'] as const) : [direction]) {
      const record = await this.#store.records.get(ATTACHMENT_RECORD, keyOf(id, { name, direction: each }));
      if (record !== null) return JSON.parse(record.value) as Attachment;
    }
    return null;
  }

  /** Reads the content: all of it, verified, or a range. */
  read({ sha256 }: Attachment, range?: { readonly start: number; readonly end: number }) {
    return this.#blobs.read(sha256, range);
  }

  /** Returns the MD5, for clients that need one. */
  async md5({ name, sha256 }: Attachment): Promise<string> {
    const found = await this.#blobs.md5(sha256);
    if (found.ok) return found.md5;
    throw new LonghaulError('data-corrupt', `attachment ${name}: ${found.refusal.message}`);
  }

  /** Removes an input. Returns whether it existed. */
  async remove(id: string, name: string): Promise<boolean> {
    const found = await this.get(id, name, 'in');
    if (found !== null) await this.#forget(id, found);
    return found !== null;
  }

  async removeAll(id: string): Promise<void> {
    for (const attachment of await this.list(id)) await this.#forget(id, attachment);
    const begun = await this.#store.records.list({ kind: UPLOAD_RECORD, prefix: `${id}/`, limit: PAGE });
    for (const { key } of begun) await this.#store.records.delete(UPLOAD_RECORD, key);
  }

  async #forget(id: string, attachment: Attachment): Promise<void> {
    await this.#store.records.delete(ATTACHMENT_RECORD, keyOf(id, attachment));
    await this.#store.records.delete(REFERENCE_RECORD, referenceOf(id, attachment));
  }

  /** Returns those of the hashes that a job references. */
  async referenced(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const sha256 of hashes) {
      const query = { kind: REFERENCE_RECORD, prefix: `${sha256}/`, limit: 1 };
      if ((await this.#store.records.list(query)).length > 0) found.add(sha256);
    }
    return found;
  }

  /** Yields job ids with attachment bytes, page by page. A job may appear again in the next page. */
  async *owners(): AsyncGenerator<ReadonlyMap<string, number>> {
    for (let after: string | undefined; ; ) {
      const query = { kind: ATTACHMENT_RECORD, limit: PAGE, ...(after !== undefined && { after }) };
      const page = await this.#store.records.list(query);
      const owners = new Map<string, number>();
      for (const { key, value } of page) {
        const id = key.slice(0, key.indexOf('/'));
        owners.set(id, (owners.get(id) ?? 0) + (JSON.parse(value) as Attachment).size);
      }
      if (page.length > 0) yield owners;
      after = page.at(-1)?.key;
      if (page.length < PAGE) return;
    }
  }

  /** Stages the inputs of a job in its attempt directory, each as a copy of its own. */
  async stage(files: readonly Attachment[], folder: string, mode: 'copy' | 'link'): Promise<void> {
    await mkdir(folder, { mode: 0o700 });
    for (const { name, sha256, direction } of files) {
      if (direction !== 'in') continue;
      const staged = await this.#blobs.stage({ sha256, folder, name, mode });
      if (!staged.ok) throw new Error(`attachment ${name}: ${staged.refusal.message}`);
    }
  }
}

function recordOf(id: string, attachment: Attachment): PutRecord {
  return { kind: ATTACHMENT_RECORD, key: keyOf(id, attachment), value: JSON.stringify(attachment) };
}

const referenceOf = (id: string, attachment: Attachment): string => `${attachment.sha256}/${keyOf(id, attachment)}`;

function keyOf(id: string, { name, direction }: Pick<Attachment, 'name' | 'direction'>): string {
  return `${id}/${direction}/${name}`;
}
