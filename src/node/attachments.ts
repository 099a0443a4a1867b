/**
 * Which files belong to a job: a record each, naming the blob by its hash. The blob itself is the business of
 * `blobs/`; a record is written only after the blob is safely there.
 */

import { checkAttachmentName } from '../blobs/attachment-name.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Store } from '../core/store.ts';

export const ATTACHMENT_RECORD = 'attachment';

export interface Attachment {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  /** `in`: given with the job. `out`: made by an attempt. */
  readonly direction: 'in' | 'out';
}

const PAGE = 500;

export class Attachments {
  readonly #store: Store;
  readonly #blobs: Blobs;

  constructor(store: Store, blobs: Blobs) {
    this.#store = store;
    this.#blobs = blobs;
  }

  async list(id: string): Promise<readonly Attachment[]> {
    const found: Attachment[] = [];
    for (let after: string | undefined; ; ) {
      const query = { kind: ATTACHMENT_RECORD, prefix: `${id}/`, limit: PAGE, ...(after !== undefined && { after }) };
      const page = await this.#store.records.list(query);
      found.push(...page.map(({ value }) => JSON.parse(value) as Attachment));
      after = page.at(-1)?.key;
      if (page.length < PAGE) return found;
    }
  }

  async put(id: string, attachment: Attachment): Promise<void> {
    for (const part of attachment.name.split('/')) checkAttachmentName(part);
    await this.#blobs.keep(attachment.sha256);
    const key = `${id}/${attachment.name}`;
    await this.#store.records.put({ kind: ATTACHMENT_RECORD, key, value: JSON.stringify(attachment) });
  }

  /** Another job gets the same files: only records are written. */
  async copy(from: string, to: string): Promise<void> {
    for (const attachment of await this.list(from)) if (attachment.direction === 'in') await this.put(to, attachment);
  }

  async removeAll(id: string): Promise<void> {
    for (const { name } of await this.list(id)) await this.#store.records.delete(ATTACHMENT_RECORD, `${id}/${name}`);
  }

  /** Puts the files a job was given into its attempt's folder, each as the attempt's own copy. */
  async stage(id: string, folder: string, mode: 'copy' | 'link'): Promise<void> {
    for (const { name, sha256, direction } of await this.list(id)) {
      if (direction !== 'in') continue;
      const staged = await this.#blobs.stage({ sha256, folder, name, mode });
      if (!staged.ok) throw new Error(`attachment ${name}: ${staged.refusal.message}`);
    }
  }
}
