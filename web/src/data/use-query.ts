/**
 * What the node says of something, kept fresh: asked at once, again when an event concerns it (once a second at most), and
 * slowly in any case. What was shown stays while the next answer is on its way, and when the node is away.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { CallError, call } from './call.ts';
import type { LiveEvent } from './live.ts';
import { listen, sayReach } from './live.ts';

export interface Query<T> {
  readonly data: T | undefined;
  readonly error: CallError | null;
  refresh(): void;
}

interface QueryOptions {
  /** Whether this event may have changed the answer; all do by default. */
  readonly concerns?: (event: LiveEvent) => boolean;
  readonly everyMs?: number;
}

const LEAST_PAUSE_MS = 1_000;
const SLOW_MS = 10_000;

/** `path` null asks nothing. */
export function useQuery<T>(path: string | null, options: QueryOptions = {}): Query<T> {
  const [answer, setAnswer] = useState<{ path: string | null; data?: T; error: CallError | null }>({
    path,
    error: null,
  });
  const asker = useRef<Asker | null>(null);
  const { concerns, everyMs = SLOW_MS } = options;
  const concernsNow = useRef(concerns);
  concernsNow.current = concerns;
  useEffect(() => {
    if (path === null) return undefined;
    const own = new Asker(path, everyMs, (data, error) => {
      setAnswer((before) => ({ path, error, ...(error === null ? { data: data as T } : keptOf(before, path)) }));
    });
    asker.current = own;
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
    refresh: () => asker.current?.now(),
  };
}

function keptOf<T>(before: { path: string | null; data?: T }, path: string): { data?: T } {
  return before.path === path && before.data !== undefined ? { data: before.data } : {};
}

/** Asks one address again and again; never twice at once. */
class Asker {
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
    this.#plan(Math.max(50, this.#lastAt + LEAST_PAUSE_MS - Date.now()));
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
      sayReach('open');
      this.#tell(data, null);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      if (error.isAway) sayReach('away');
      this.#tell(undefined, error);
    } finally {
      this.#isAsking = false;
    }
    this.#plan(this.#isDue ? LEAST_PAUSE_MS : this.#everyMs);
  }
}
