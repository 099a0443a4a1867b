/** Messages of the relay protocol. Types only. */
import type { RelayedJobOptions } from '../../core/job/relay-request.ts';

export interface RelayedJob {
  readonly queue: string;
  /** JSON. */
  readonly data: string;
  readonly job: RelayedJobOptions;
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
      /** Complete files, and the offsets of incomplete ones. */
      readonly files: readonly PreparedFile[];
      readonly begun: readonly BegunFile[];
    };

export interface CommitResult {
  readonly ok: true;
  readonly phase: 'committed';
  readonly queue: string;
}

/** The version of this protocol. */
export const RELAY_PROTOCOL = 1;
