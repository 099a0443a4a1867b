/** What two nodes say to each other about a relayed job. Words alone. */
import type { RelayedShape } from '../../core/job/relay-request.ts';

export interface RelayedJob {
  readonly queue: string;
  /** A JSON text. */
  readonly data: string;
  readonly job: RelayedShape;
  readonly source: string;
  readonly origin: string;
  readonly hops: number;
}

export interface PreparedFile {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
}

export interface BegunFile {
  readonly name: string;
  readonly offset: number;
}

export type Prepared =
  | { readonly ok: true; readonly phase: 'committed'; readonly queue: string }
  | {
      readonly ok: true;
      readonly phase: 'draft';
      readonly queue: string;
      /** Those that are whole, and how far the others have come. */
      readonly files: readonly PreparedFile[];
      readonly begun: readonly BegunFile[];
    };

export interface CommitResult {
  readonly ok: true;
  readonly phase: 'committed';
  readonly queue: string;
}

/** The version of what is said here. */
export const RELAY_PROTOCOL = 1;
