/**
 * The logs of a memory store. A queue has a limit of bytes: beyond it, the logs that were written least recently are
 * deleted. They are deleted with their job, and by the retention of logs.
 */
import type { Job } from '../../core/job/job.ts';
import type { StoredLog } from '../../core/job/stored-log.ts';
import { EMPTY_LOG, wholeCharacters, withOutput } from '../../core/job/stored-log.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import { exceedsKeep } from '../../core/lifecycle/prunable.ts';
import type { LogAppend, LogAppendResult, LogPage, LogQuery, RestoredLog } from '../../core/ports/log-store.ts';
import { MAX_LOG_PAGE } from '../../core/ports/log-store.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { StoredSize } from '../../core/statistics/storage.ts';

export interface MemoryLogsHost {
  job(id: string): Job | undefined;
  settings(queue: string): QueueSettings;
}

interface Entry {
  readonly id: string;
  readonly attempt: number;
  readonly queue: string;
  /** The last write. */
  readonly at: number;
  readonly log: StoredLog;
}

export class MemoryLogs {
  readonly #host: MemoryLogsHost;
  /** By job and attempt; the least recently written first. */
  readonly #entries = new Map<string, Entry>();

  constructor(host: MemoryLogsHost) {
    this.#host = host;
  }

  append({ id, token, offset, text, gap }: LogAppend, now: number): LogAppendResult {
    const job = this.#host.job(id);
    if (job === undefined) return refuse('not-found', `job ${id}`);
    if (!holds(job, token)) return refuse('lease-lost', `job ${id}`);
    const key = keyOf(id, job.attempt);
    const before = this.#entries.get(key);
    const queue = before?.queue ?? job.queue;
    const { storedLogs } = this.#host.settings(queue);
    const output = { offset, bytes: new TextEncoder().encode(text), gap: gap ?? null };
    const log = withOutput(before?.log ?? EMPTY_LOG, output, Math.min(storedLogs.attempt, storedLogs.queue));
    this.#entries.delete(key);
    this.#entries.set(key, { id, attempt: job.attempt, queue, at: now, log });
    this.#evict(queue, key, storedLogs.queue);
    return { ok: true, end: log.end };
  }

  read({ id, attempt, from }: LogQuery): LogPage | null {
    const entry = this.#entries.get(keyOf(id, attempt));
    if (entry === undefined) return null;
    const { body, generation, head, dropped, gaps } = entry.log;
    const start = Math.min(from, body.length);
    const bytes = wholeCharacters(body.subarray(start, start + MAX_LOG_PAGE));
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return { text, from: start, to: start + bytes.length, size: body.length, generation, head, dropped, gaps };
  }

  restore({ id, attempt, queue, at, text }: RestoredLog): void {
    const key = keyOf(id, attempt);
    if (this.#entries.has(key) || this.#host.job(id) === undefined) return;
    const body = new TextEncoder().encode(text);
    this.#entries.set(key, { id, attempt, queue, at, log: { ...EMPTY_LOG, body, end: body.length } });
  }

  /** Deletes the logs of a job. */
  delete(id: string): void {
    for (const [key, entry] of this.#entries) if (entry.id === id) this.#entries.delete(key);
  }

  held(queue: string): StoredSize {
    const own = this.#of(queue);
    return { count: own.length, bytes: own.reduce((sum, [, { log }]) => sum + log.body.length, 0) };
  }

  /** Applies the retention of logs, except to attempts that run. */
  prune(now: number): void {
    for (const queue of new Set([...this.#entries.values()].map((entry) => entry.queue))) {
      const keep = this.#host.settings(queue).retention.logs;
      for (const [key, entry] of this.#of(queue)) {
        const isOld = keep.ms !== null && entry.at < now - keep.ms;
        if (!this.#isRunning(entry) && (isOld || exceedsKeep(this.held(queue), keep))) this.#entries.delete(key);
      }
    }
  }

  #evict(queue: string, own: string, limit: number): void {
    for (const [key] of this.#of(queue)) {
      if (this.held(queue).bytes <= limit) return;
      if (key !== own) this.#entries.delete(key);
    }
  }

  #of(queue: string): readonly (readonly [string, Entry])[] {
    return [...this.#entries].filter(([, entry]) => entry.queue === queue);
  }

  #isRunning({ id, attempt }: Entry): boolean {
    const job = this.#host.job(id);
    return job?.state === 'running' && job.attempt === attempt;
  }
}

const keyOf = (id: string, attempt: number): string => `${id} ${attempt}`;
