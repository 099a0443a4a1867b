/** What goes into the calls of a resumable upload, and what comes out of them. */
import type { BlobRefused } from '../blobs/blob-refusal.ts';
import type { BlobInfo } from '../blobs/blob-store.ts';
import type { Source } from './receive.ts';

export interface BeginOptions {
  /** Chosen by the caller, who may begin again to find out how far it has come. Default: random. */
  readonly id?: string;
  /** The whole size, where it is known: what cannot be taken in is refused before it is sent. */
  readonly size?: number;
}

export interface UploadStatus {
  readonly id: string;
  /** How many bytes are there: where the next append must begin. */
  readonly offset: number;
  /** The blob it has become, once finished. */
  readonly blob: BlobInfo | null;
}

export interface Append {
  readonly offset: number;
  readonly source: Source;
  readonly signal?: AbortSignal;
}

export type BeginResult = { readonly ok: true; readonly upload: UploadStatus } | BlobRefused;
export type AppendResult = { readonly ok: true; readonly offset: number } | BlobRefused;
