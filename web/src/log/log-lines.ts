/**
 * The lines of one attempt's log, as far as somebody looks at them: pages of lines fetched when they are needed and
 * forgotten when they are far away, and the end kept live while the attempt runs and the page is seen.
 *
 * Invariant: what is in memory is bounded, however long the log is and however long its lines are.
 */
import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import type { Mark } from './folds.ts';
import { isMark, MARKS } from './folds.ts';
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
  /** How long the log was when the page was fetched: a page that was not full then is fetched again. */
  readonly total: number;
}

const PAGE_LINES = 500;
const MOST_PAGES = 60;
const TAIL_LINES = 500;
const MOST_MARKS = 1_000;
/** Beyond this the node is not asked for the marks of a log: it would read all of it for every look. */
const MOST_MARKED_BYTES = 256 * 1024 * 1024;

export class LogLines {
  readonly #path: string;
  readonly #changed: () => void;
  readonly #pages = new Map<number, Page>();
  readonly #asked = new Set<number>();
  readonly #stopped = new AbortController();
  readonly #live = new LiveLines();
  readonly #marks = new Map<number, Mark>();
  #source: EventSource | null = null;
  size = 0;
  end: LogEnd | null = null;
  problem: string | null = null;
  isOpen = false;

  constructor(job: string, attempt: number | 'latest', changed: () => void) {
    this.#path = `api/jobs/${encodeURIComponent(job)}/attempts/${attempt}/log`;
    this.#changed = changed;
    // A browser opens few streams to one host: a page that nobody sees must not keep one from the others.
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

  /** Where groups begin and end, by line. */
  get marks(): readonly Mark[] {
    return [...this.#marks.values()].sort((a, b) => a.line - b.line);
  }

  /** The line, or undefined while it is on its way. */
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
      if (tail.size <= MOST_MARKED_BYTES) void this.#findMarks();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      // A job that has not begun has no log yet: the stream waits for it.
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
    // The log was cut at its cap: what was read of its middle is no longer there.
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
    this.#marks.clear();
    this.size = 0;
    void this.#open();
  }

  #take(lines: readonly LogLine[]): void {
    for (const { line, text, at } of lines)
      if (this.#marks.size < MOST_MARKS && isMark(text)) this.#marks.set(line, { line, text, at });
  }

  async #findMarks(): Promise<void> {
    try {
      const query = { q: MARKS, regex: 'true', limit: MOST_MARKS };
      const found = await call<{ matches: readonly LogLine[] }>(`${this.#path}/search`, {
        query,
        signal: this.#stopped.signal,
      });
      this.#take(found.matches);
      if (found.matches.length > 0) this.#changed();
    } catch {
      // Without its groups a log is still a log.
    }
  }

  async #fetch(place: number): Promise<void> {
    if (this.#asked.has(place) || place < 0) return;
    this.#asked.add(place);
    const total = this.total;
    try {
      this.#pages.set(place, { lines: await this.#readPage(place), total });
      for (const old of this.#pages.keys()) {
        if (this.#pages.size <= MOST_PAGES) break;
        this.#pages.delete(old);
      }
      this.#changed();
    } catch {
      // The node is away: the next look at these lines asks again.
    } finally {
      this.#asked.delete(place);
    }
  }

  /** An answer holds a megabyte at most, so long lines come in several. */
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
