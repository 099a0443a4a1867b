/** Parameters and results of the calls of a resumable upload. */
import type { BlobRefused } from '../blobs/blob-refusal.ts';
import type { BlobInfo } from '../blobs/blob-store.ts';
import type { Source } from './receive.ts';

export interface BeginOptions {
  /** Chosen by the caller, which may begin again to get the current offset. Default: random. */
  readonly id?: string;
  /** The whole size, if known: an upload that is too large is refused before it is sent. */
  readonly size?: number;
}

export interface UploadStatus {
  readonly id: string;
  /** Received bytes: where the next append must begin. */
  readonly offset: number;
  /** The resulting blob, once finished. */
  readonly blob: BlobInfo | null;
}

export interface Append {
  readonly offset: number;
  readonly source: Source;
  readonly signal?: AbortSignal;
}

export type BeginResult = { readonly ok: true; readonly upload: UploadStatus } | BlobRefused;
export type AppendResult = { readonly ok: true; readonly offset: number } | BlobRefused;
