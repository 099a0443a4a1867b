/**
 * A polled query: fetched at once, again when a relevant event arrives (at most once a second), and
 * at a slow interval. The last data stay while a request is pending and while the node is unreachable.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { CallError, call } from './call.ts';
import type { LiveEvent } from './live.ts';
import { listen, setConnection } from './live.ts';

export interface Query<T> {
  readonly data: T | undefined;
  readonly error: CallError | null;
  refresh(): void;
}

interface QueryOptions {
  /** Returns true if this event may have changed the data; by default every event does. */
  readonly concerns?: (event: LiveEvent) => boolean;
  readonly everyMs?: number;
}

const MIN_INTERVAL_MS = 1_000;
const DEFAULT_POLL_MS = 10_000;

/** Polls `path`; null disables the query. */
export function useQuery<T>(path: string | null, options: QueryOptions = {}): Query<T> {
  const [answer, setAnswer] = useState<{ path: string | null; data?: T; error: CallError | null }>({
    path,
    error: null,
  });
  const poller = useRef<Poller | null>(null);
  const { concerns, everyMs = DEFAULT_POLL_MS } = options;
  const concernsNow = useRef(concerns);
  concernsNow.current = concerns;
  useEffect(() => {
    if (path === null) return undefined;
    const own = new Poller(path, everyMs, (data, error) => {
      setAnswer((before) => ({ path, error, ...(error === null ? { data: data as T } : keptOf(before, path)) }));
    });
    poller.current = own;
    const unlisten = listen((event) => {
      if (event === null || (concernsNow.current?.(event) ?? true)) own.soon();
    });
    return () => {
      unlisten();
      own.stop();
    };
  }, [path, everyMs]);
  const isCurrent = answer.path === path;
  return {
    data: isCurrent ? answer.data : undefined,
    error: isCurrent ? answer.error : null,
    refresh: () => poller.current?.now(),
  };
}

function keptOf<T>(before: { path: string | null; data?: T }, path: string): { data?: T } {
  return before.path === path && before.data !== undefined ? { data: before.data } : {};
}

/** Polls one path; never runs two requests at once. */
class Poller {
  readonly #path: string;
  readonly #everyMs: number;
  readonly #tell: (data: unknown, error: CallError | null) => void;
  readonly #stopped = new AbortController();
  #timer = 0;
  #lastAt = 0;
  #isAsking = false;
  #isDue = false;

  constructor(path: string, everyMs: number, tell: (data: unknown, error: CallError | null) => void) {
    this.#path = path;
    this.#everyMs = everyMs;
    this.#tell = tell;
    void this.#ask();
  }

  now(): void {
    this.#plan(0);
  }

  soon(): void {
    this.#plan(Math.max(50, this.#lastAt + MIN_INTERVAL_MS - Date.now()));
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  #plan(afterMs: number): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#isAsking) {
      this.#isDue = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#ask(), afterMs);
  }

  async #ask(): Promise<void> {
    if (document.hidden && this.#lastAt > 0) return this.#plan(this.#everyMs);
    this.#isAsking = true;
    this.#isDue = false;
    this.#lastAt = Date.now();
    try {
      const data = await call<unknown>(this.#path, { signal: this.#stopped.signal });
      setConnection('open');
      this.#tell(data, null);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      if (error.isAway) setConnection('away');
      this.#tell(undefined, error);
    } finally {
      this.#isAsking = false;
    }
    this.#plan(this.#isDue ? MIN_INTERVAL_MS : this.#everyMs);
  }
}
