/**
 * The API of the blob store. A call returns a result or a refusal (`{ ok: false }`), or throws: `bad-input`,
 * `store-full`, `store-unavailable`, `data-corrupt`. Hashes are SHA-256, 64 lower-case hex digits.
 *
 * Every call can be repeated after a crash or a lost answer.
 */

import type { Collected, CollectOptions } from '../outputs/collect-outputs.ts';
import type { Source } from '../uploads/receive.ts';
import type { Append, AppendResult, BeginOptions, BeginResult, UploadStatus } from '../uploads/upload-calls.ts';
import type { AddPathOptions, AddStreamOptions } from './add-blob.ts';
import type { BlobRefused } from './blob-refusal.ts';
import type { AddBlobResult, BlobInfo } from './blob-store.ts';
import type { Expected } from './expected-content.ts';
import type { Md5Result } from './md5-cache.ts';
import type { BlobReading } from './read-blob.ts';
import type { Range } from './scan-file.ts';
import type { ScrubOptions, ScrubResult } from './scrub-blobs.ts';
import type { Staged, Staging } from './stage-blob.ts';
import type { SweepOptions, SweepResult } from './sweep-blobs.ts';
import type { Verdict } from './verify-blob.ts';

export interface Blobs {
  /** Begins an upload, or returns the existing one of that id with its offset. */
  begin(options?: BeginOptions): Promise<BeginResult>;
  /** Appends bytes. An append at a wrong offset is refused as `wrong-offset`, with the right one. */
  append(id: string, append: Append): Promise<AppendResult>;
  /** Verifies the content and makes it a blob. */
  finish(id: string, expected?: Expected): Promise<AddBlobResult>;
  /** Returns the state of an upload, or null. */
  upload(id: string): Promise<UploadStatus | null>;
  /** Discards an upload; its id becomes free. */
  discard(id: string): Promise<void>;

  addFromStream(source: Source, options?: AddStreamOptions): Promise<AddBlobResult>;
  addFromPath(path: string, options?: AddPathOptions): Promise<AddBlobResult>;
  /** Adds every regular file below this directory. */
  collect(folder: string, options?: CollectOptions): Promise<Collected>;

  stat(sha256: string): Promise<BlobInfo | null>;
  /** Returns the path of a blob, for reading; null when it does not exist. */
  path(sha256: string): Promise<string | null>;
  read(sha256: string, range?: Partial<Range>): Promise<BlobReading | BlobRefused>;
  md5(sha256: string): Promise<Md5Result>;
  /** Reads the whole blob and checks its hash. Also called after an attempt that had it staged by `link`. */
  verify(sha256: string): Promise<Verdict>;
  /** Protects a blob for another hour before a new record refers to it. Returns false when it does not exist. */
  keep(sha256: string): Promise<boolean>;
  /** Puts a blob into an attempt directory. */
  stage(staging: Staging): Promise<Staged | BlobRefused>;

  /** Deletes unreferenced blobs and abandoned uploads. */
  sweep(options: SweepOptions): Promise<SweepResult>;
  /** Verifies all blobs. */
  scrub(options?: ScrubOptions): Promise<ScrubResult>;
  /** Aborts running appends; received bytes are kept, and the uploads can continue. */
  close(): Promise<void>;
}
