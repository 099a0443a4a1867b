/**
 * The lines of an attempt's log: pages are fetched on demand and evicted
 * when there are too many; the end is streamed while the attempt runs and the tab is visible.
 *
 * Invariant: memory is bounded, however long the log and its lines are.
 */
import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import type { GroupMarker } from './folds.ts';
import { GROUP_MARKERS, isGroupMarker } from './folds.ts';
import type { LogLine } from './live-lines.ts';
import { cutLine, LiveLines } from './live-lines.ts';

interface LinesPage {
  readonly lines: readonly LogLine[];
  readonly next: number;
  readonly to: number;
  readonly size: number;
  readonly generation: number;
}

export interface LogEnd {
  readonly state: string | null;
  readonly exit: number | null;
  readonly signal: string | null;
}

interface Page {
  readonly lines: ReadonlyMap<number, LogLine>;
  /** The number of lines at the time of the fetch: an incomplete page is fetched again. */
  readonly total: number;
}

const PAGE_LINES = 500;
const MAX_PAGES = 60;
const TAIL_LINES = 500;
const MAX_MARKERS = 1_000;
/** Group markers of a larger log are not searched: the node would read all of it. */
const MAX_MARKER_SEARCH_BYTES = 256 * 1024 * 1024;

export class LogLines {
  readonly #path: string;
  readonly #changed: () => void;
  readonly #pages = new Map<number, Page>();
  readonly #asked = new Set<number>();
  readonly #stopped = new AbortController();
  readonly #live = new LiveLines();
  readonly #markers = new Map<number, GroupMarker>();
  #source: EventSource | null = null;
  size = 0;
  end: LogEnd | null = null;
  problem: string | null = null;
  isOpen = false;

  constructor(job: string, attempt: number | 'latest', changed: () => void) {
    this.#path = `api/jobs/${encodeURIComponent(job)}/attempts/${attempt}/log`;
    this.#changed = changed;
    // A browser opens few connections per host, so a hidden tab releases its stream.
    document.addEventListener('visibilitychange', this.#onSeen);
    void this.#open();
  }

  get path(): string {
    return this.#path;
  }

  /** The number of the last line. */
  get total(): number {
    return this.#live.total;
  }

  /** The group markers in line order. */
  get markers(): readonly GroupMarker[] {
    return [...this.#markers.values()].sort((a, b) => a.line - b.line);
  }

  /** Returns the line, or undefined while it is fetched. */
  at(number: number): LogLine | undefined {
    if (number >= this.#live.first) return this.#live.at(number);
    const place = Math.floor((number - 1) / PAGE_LINES);
    const page = this.#pages.get(place);
    const found = page?.lines.get(number);
    const mayHaveMore = page === undefined || (page.total < (place + 1) * PAGE_LINES && page.total < this.total);
    if (found === undefined && mayHaveMore) void this.#fetch(place);
    return found;
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onSeen);
    this.#stopped.abort();
    this.#source?.close();
  }

  readonly #onSeen = (): void => {
    if (this.end !== null) return;
    if (document.hidden) this.#source?.close();
    else this.#startAnew();
  };

  async #open(): Promise<void> {
    try {
      const tail = await call<LinesPage>(`${this.#path}?tail=${TAIL_LINES}`, { signal: this.#stopped.signal });
      this.problem = null;
      this.size = tail.size;
      this.#take(tail.lines);
      const from = this.#live.startWith(tail.lines);
      this.#follow(tail.generation === 0 ? String(from) : `${from}.${tail.generation}`);
      if (tail.size <= MAX_MARKER_SEARCH_BYTES) void this.#findMarkers();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      // A job that has not started has no log yet: the stream waits for it.
      this.problem = error instanceof Error ? error.message : String(error);
      this.#follow('0');
    }
    this.isOpen = true;
    this.#changed();
  }

  #follow(from: string): void {
    const source = new EventSource(`${addressOf(this.#path)}/events?from=${from}`);
    this.#source = source;
    source.addEventListener('text', (event: MessageEvent<string>) => {
      const { text, to } = JSON.parse(event.data) as { text: string; to: number };
      this.problem = null;
      this.#take(this.#live.append(text));
      this.size = Math.max(to, this.size);
      this.#changed();
    });
    // The log was truncated at its limit: cached lines of the middle are invalid.
    source.addEventListener('reset', () => this.#startAnew());
    source.addEventListener('end', (event: MessageEvent<string>) => {
      this.end = JSON.parse(event.data) as LogEnd;
      source.close();
      this.#changed();
    });
  }

  #startAnew(): void {
    this.#source?.close();
    this.#pages.clear();
    this.#markers.clear();
    this.size = 0;
    void this.#open();
  }

  #take(lines: readonly LogLine[]): void {
    for (const { line, text, at } of lines)
      if (this.#markers.size < MAX_MARKERS && isGroupMarker(text)) this.#markers.set(line, { line, text, at });
  }

  async #findMarkers(): Promise<void> {
    try {
      const query = { q: GROUP_MARKERS, regex: 'true', limit: MAX_MARKERS };
      const found = await call<{ matches: readonly LogLine[] }>(`${this.#path}/search`, {
        query,
        signal: this.#stopped.signal,
      });
      this.#take(found.matches);
      if (found.matches.length > 0) this.#changed();
    } catch {
      // Groups are optional.
    }
  }

  async #fetch(place: number): Promise<void> {
    if (this.#asked.has(place) || place < 0) return;
    this.#asked.add(place);
    const total = this.total;
    try {
      this.#pages.set(place, { lines: await this.#readPage(place), total });
      for (const old of this.#pages.keys()) {
        if (this.#pages.size <= MAX_PAGES) break;
        this.#pages.delete(old);
      }
      this.#changed();
    } catch {
      // The node is unreachable: the next access to these lines fetches again.
    } finally {
      this.#asked.delete(place);
    }
  }

  /** Reads one page; a response holds at most a megabyte, so long lines need several requests. */
  async #readPage(place: number): Promise<ReadonlyMap<number, LogLine>> {
    const lines = new Map<number, LogLine>();
    const end = (place + 1) * PAGE_LINES + 1;
    for (let line = place * PAGE_LINES + 1; line < end; ) {
      const query = { line, lines: end - line };
      const page = await call<LinesPage>(this.#path, { query, signal: this.#stopped.signal });
      for (const each of page.lines) lines.set(each.line, cutLine(each));
      if (page.next <= line) break;
      line = page.next;
    }
    return lines;
  }
}
