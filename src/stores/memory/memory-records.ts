/** Records in a map. Versions come from one counter, so that none is given twice. */

import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import type { CallOptions } from '../../core/ports/job-store.ts';
import type { PutRecord, RecordQuery, Records, StoredRecord } from '../../core/ports/records.ts';
import { refuse } from '../../core/ports/refusal.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';

type TimeOf = (options: CallOptions | undefined) => number;
type Changed = (kind: string, key: string, now: number) => void;

export class MemoryRecords implements Records {
  readonly #records = new Map<string, StoredRecord>();
  readonly #now: TimeOf;
  readonly #changed: Changed;
  #version = 0;

  constructor(now: TimeOf, changed: Changed) {
    this.#now = now;
    this.#changed = changed;
  }

  peek(kind: string, key: string): StoredRecord | undefined {
    return this.#records.get(address(kind, key));
  }

  async get(kind: string, key: string, options?: CallOptions): Promise<StoredRecord | null> {
    return this.#living(kind, key, this.#now(options)) ?? null;
  }

  async put(record: PutRecord, options?: CallOptions) {
    const { kind, key, value, ifVersion, expiresAt = null } = record;
    const now = this.#now(options);
    const known = this.#living(kind, key, now);
    if (ifVersion !== undefined && ifVersion !== (known?.version ?? 0))
      return refuse('version-conflict', `${kind} ${key}`);
    this.#version += 1;
    this.#records.set(address(kind, key), { kind, key, value, version: this.#version, expiresAt, updatedAt: now });
    this.#changed(kind, key, now);
    return { ok: true as const, version: this.#version };
  }

  async list(
    { kind, prefix = '', after, limit }: RecordQuery,
    options?: CallOptions,
  ): Promise<readonly StoredRecord[]> {
    const now = this.#now(options);
    const wanted = [...this.#records.values()].filter(
      (record) =>
        record.kind === kind &&
        record.key.startsWith(prefix) &&
        (after === undefined || compareKeys(record.key, after) > 0) &&
        isLiving(record, now),
    );
    return wanted.sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
  }

  async delete(kind: string, key: string, options?: CallOptions & { readonly ifVersion?: number }) {
    const now = this.#now(options);
    const known = this.#living(kind, key, now);
    if (known === undefined) return refuse('not-found', `${kind} ${key}`);
    if (options?.ifVersion !== undefined && options.ifVersion !== known.version)
      return refuse('version-conflict', `${kind} ${key}`);
    this.#records.delete(address(kind, key));
    this.#changed(kind, key, now);
    return { ok: true as const };
  }

  /** Deletes expired records. Settings of queues and throttles stay: the table uses them whatever their expiry. */
  forgetExpired(now: number): void {
    for (const [at, record] of this.#records)
      if (record.kind !== QUEUE_RECORD && record.kind !== THROTTLE_RECORD && !isLiving(record, now))
        this.#records.delete(at);
  }

  get version(): number {
    return this.#version;
  }

  raise(version: number): void {
    this.#version = Math.max(this.#version, version);
  }

  all(): readonly StoredRecord[] {
    return [...this.#records.values()];
  }

  /** Writes a record unchanged, over any existing one. */
  restore(record: StoredRecord): void {
    this.#records.set(address(record.kind, record.key), record);
  }

  drop({ kind, key }: Pick<StoredRecord, 'kind' | 'key'>): void {
    this.#records.delete(address(kind, key));
  }

  #living(kind: string, key: string, now: number): StoredRecord | undefined {
    const record = this.peek(kind, key);
    return record !== undefined && isLiving(record, now) ? record : undefined;
  }
}

function isLiving(record: StoredRecord, now: number): boolean {
  return record.expiresAt === null || record.expiresAt > now;
}

function address(kind: string, key: string): string {
  return `${kind}\u0000${key}`;
}

/** Orders keys by UTF-8 bytes, as the durable stores do. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
