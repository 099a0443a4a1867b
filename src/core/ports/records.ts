/**
 * The Records port: versioned records beside the jobs (queue settings, schedules, tokens, audit …).
 *
 * Invariant: a version only grows, even across a delete and a new put of the same key, so that `ifVersion` never
 * mistakes a newer record for the one that was read.
 */
import type { CallOptions } from './job-store.ts';
import type { Refused } from './refusal.ts';

export interface StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  readonly expiresAt: number | null;
  readonly updatedAt: number;
}

export interface PutRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
  /** Refused as `version-conflict` unless the record has this version; 0 means that it must not exist. */
  readonly ifVersion?: number;
  readonly expiresAt?: number;
}

export interface RecordQuery {
  readonly kind: string;
  readonly prefix?: string;
  /** Keys after this one, in the order of their UTF-8 bytes. */
  readonly after?: string;
  readonly limit: number;
}

export interface Records {
  get(kind: string, key: string, options?: CallOptions): Promise<StoredRecord | null>;
  put(record: PutRecord, options?: CallOptions): Promise<{ readonly ok: true; readonly version: number } | Refused>;
  list(query: RecordQuery, options?: CallOptions): Promise<readonly StoredRecord[]>;
  delete(
    kind: string,
    key: string,
    options?: CallOptions & { readonly ifVersion?: number },
  ): Promise<{ readonly ok: true } | Refused>;
}

/** The kind of the record that holds a store's identity. */
export const STORE_RECORD = 'store-identity';
