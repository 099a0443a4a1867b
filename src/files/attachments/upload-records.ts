/** Which upload belongs to which file of which job: a record each, for as long as it is on its way. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../core/ports/store.ts';
import { DRAFT_LIFE_MS } from '../../core/settings/settings.ts';
import { UPLOAD_RECORD } from './attachments.ts';
import type { PutFile } from './file-upload.ts';

export interface BegunUpload {
  /** The id of the upload among the blobs. */
  readonly upload: string;
  readonly size: number | null;
  readonly sha256: string | null;
}

export interface KnownUpload {
  readonly begun: BegunUpload;
  readonly version: number;
}

const MOST_UPLOADS = 1_000;

export class UploadRecords {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async get(id: string, name: string): Promise<KnownUpload | null> {
    const record = await this.#store.records.get(UPLOAD_RECORD, `${id}/${name}`);
    return record === null ? null : { begun: JSON.parse(record.value) as BegunUpload, version: record.version };
  }

  /** The names of this job's files that are on their way. */
  async names(id: string): Promise<readonly string[]> {
    const records = await this.#store.records.list({ kind: UPLOAD_RECORD, prefix: `${id}/`, limit: MOST_UPLOADS });
    return records.map(({ key }) => key.slice(id.length + 1));
  }

  /** False when somebody else has written it since that version. */
  async put({ id, name, now }: PutFile, begun: BegunUpload, ifVersion: number): Promise<boolean> {
    const record = { kind: UPLOAD_RECORD, key: `${id}/${name}`, value: JSON.stringify(begun) };
    return (await this.#store.records.put({ ...record, ifVersion, expiresAt: now + DRAFT_LIFE_MS })).ok;
  }

  /** Only as long as it is still this upload. */
  async forget(id: string, name: string, upload: string): Promise<void> {
    const known = await this.get(id, name);
    if (known?.begun.upload !== upload) return;
    await this.#store.records.delete(UPLOAD_RECORD, `${id}/${name}`, { ifVersion: known.version });
  }
}

/** What is known of the whole content once this put has said its part. */
export function begunBy({ offset, length, size, sha256 }: PutFile, before: BegunUpload | null): BegunUpload {
  const announced = size ?? before?.size ?? null;
  return {
    upload: before?.upload ?? randomUUID(),
    // Who says nothing else sends all of the rest at once.
    size: announced ?? (length === null ? null : (offset ?? 0) + length),
    sha256: sha256 ?? before?.sha256 ?? null,
  };
}
