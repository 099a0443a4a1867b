/** The state that all parts of the blob store share: paths, publishing and limits. */
import type { BlobRefused } from './blob-refusal.ts';
import type { FreeSpace } from './free-space.ts';
import type { Layout } from './layout.ts';
import type { Publish } from './publish.ts';

export interface BlobStore {
  readonly layout: Layout;
  readonly publish: Publish;
  readonly space: FreeSpace;
  /** The size of the largest blob. */
  readonly maxBytes: number;
  readonly now: () => number;
  /** Files of `uploads/` that this process writes: the sweep leaves them alone, however old they are. */
  readonly busy: Set<string>;
}

export interface BlobInfo {
  readonly sha256: string;
  readonly size: number;
}

export type AddBlobResult = { readonly ok: true; readonly blob: BlobInfo } | BlobRefused;
