/**
 * What can be asked of blobs, on one page. A call answers, refuses (`{ ok: false }`), or throws: `bad-input`,
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
  /** Begins an upload, or finds the one of that id again with its offset. */
  begin(options?: BeginOptions): Promise<BeginResult>;
  /** An append that does not begin where the upload ends is refused as `wrong-offset`, with the right one. */
  append(id: string, append: Append): Promise<AppendResult>;
  finish(id: string, expected?: Expected): Promise<AddBlobResult>;
  upload(id: string): Promise<UploadStatus | null>;
  discard(id: string): Promise<void>;

  addFromStream(source: Source, options?: AddStreamOptions): Promise<AddBlobResult>;
  addFromPath(path: string, options?: AddPathOptions): Promise<AddBlobResult>;
  /** Every plain file below this folder. */
  collect(folder: string, options?: CollectOptions): Promise<Collected>;

  stat(sha256: string): Promise<BlobInfo | null>;
  read(sha256: string, range?: Partial<Range>): Promise<BlobReading | BlobRefused>;
  md5(sha256: string): Promise<Md5Result>;
  /** Reads all of it; also what is to be asked after an attempt that had it staged by `link`. */
  verify(sha256: string): Promise<Verdict>;
  /** Before a new row refers to a blob that is there already: safe for another hour. False when there is none. */
  keep(sha256: string): Promise<boolean>;
  stage(staging: Staging): Promise<Staged | BlobRefused>;

  sweep(options: SweepOptions): Promise<SweepResult>;
  scrub(options?: ScrubOptions): Promise<ScrubResult>;
  /** Ends appends that are under way; what they have taken in stays, and can be gone on from. */
  close(): Promise<void>;
}
