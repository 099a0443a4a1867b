/** The records of running uploads: one for each file of a job, until it is attached. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../core/ports/store.ts';
import { DRAFT_TTL_MS } from '../../core/settings/settings.ts';
import { UPLOAD_RECORD } from './attachments.ts';
import type { PutFile } from './file-upload.ts';

export interface PendingUpload {
  /** The id of the upload in the blob store. */
  readonly upload: string;
  readonly size: number | null;
  readonly sha256: string | null;
}

export interface StoredUpload {
  readonly begun: PendingUpload;
  readonly version: number;
}

const MAX_UPLOADS = 1_000;

export class UploadRecords {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async get(id: string, name: string): Promise<StoredUpload | null> {
    const record = await this.#store.records.get(UPLOAD_RECORD, `${id}/${name}`);
    return record === null ? null : { begun: JSON.parse(record.value) as PendingUpload, version: record.version };
  }

  /** Returns the names of files of this job that are being uploaded. */
  async names(id: string): Promise<readonly string[]> {
    const records = await this.#store.records.list({ kind: UPLOAD_RECORD, prefix: `${id}/`, limit: MAX_UPLOADS });
    return records.map(({ key }) => key.slice(id.length + 1));
  }

  /** Returns false when another call has written the record since that version. */
  async put({ id, name, now }: PutFile, begun: PendingUpload, ifVersion: number): Promise<boolean> {
    const record = { kind: UPLOAD_RECORD, key: `${id}/${name}`, value: JSON.stringify(begun) };
    return (await this.#store.records.put({ ...record, ifVersion, expiresAt: now + DRAFT_TTL_MS })).ok;
  }

  /** Deletes the record, unless it belongs to another upload by now. */
  async forget(id: string, name: string, upload: string): Promise<void> {
    const known = await this.get(id, name);
    if (known?.begun.upload !== upload) return;
    await this.#store.records.delete(UPLOAD_RECORD, `${id}/${name}`, { ifVersion: known.version });
  }
}

/** Merges the announcements of this put with those of earlier ones. */
export function mergeUpload({ offset, length, size, sha256 }: PutFile, before: PendingUpload | null): PendingUpload {
  const announced = size ?? before?.size ?? null;
  return {
    upload: before?.upload ?? randomUUID(),
    // Without an announced size, this put sends all of the rest.
    size: announced ?? (length === null ? null : (offset ?? 0) + length),
    sha256: sha256 ?? before?.sha256 ?? null,
  };
}
