/**
 * The live end of a log: turns text that arrives in pieces into numbered lines. Pure.
 *
 * The last fetched line may be incomplete. So the stream starts at that line again, and the streamed
 * text replaces the fetched one.
 */

export interface LogLine {
  readonly line: number;
  readonly offset: number;
  readonly text: string;
  readonly at: number | null;
  /** The number of characters dropped at the end; the file has all of them. */
  readonly dropped?: number;
}

const MAX_LIVE_LINES = 8_000;
const KEPT_LIVE_LINES = 4_000;
const MAX_LINE_LENGTH = 20_000;

export class LiveLines {
  #lines: LogLine[] = [];
  #total = 0;
  /** True while the last line can grow. */
  #isOpen = false;
  #isReread = false;

  get total(): number {
    return this.#total;
  }

  get first(): number {
    return this.#lines[0]?.line ?? Number.POSITIVE_INFINITY;
  }

  at(number: number): LogLine | undefined {
    return this.#lines[number - this.first];
  }

  /** Sets the fetched lines and returns the byte offset at which the stream must start. */
  startWith(lines: readonly LogLine[]): number {
    const last = lines.at(-1);
    this.#lines = lines.map(cutLine);
    this.#total = last?.line ?? 0;
    this.#isOpen = last !== undefined;
    this.#isReread = this.#isOpen;
    return last?.offset ?? 0;
  }

  /** Appends text and returns the lines that it completed. */
  append(text: string): readonly LogLine[] {
    const whole: LogLine[] = [];
    if (this.#isReread) this.#emptyLast();
    const parts = text.split('\n');
    for (const [place, part] of parts.entries()) {
      const isLast = place === parts.length - 1;
      if (isLast && part === '') break;
      whole.push(this.#add(part));
      this.#isOpen = isLast;
    }
    if (this.#lines.length > MAX_LIVE_LINES) this.#lines.splice(0, this.#lines.length - KEPT_LIVE_LINES);
    return this.#isOpen ? whole.slice(0, -1) : whole;
  }

  #emptyLast(): void {
    const last = this.#lines.at(-1);
    this.#isReread = false;
    if (last !== undefined) this.#lines[this.#lines.length - 1] = { ...last, text: '', dropped: 0 };
  }

  #add(text: string): LogLine {
    const open = this.#isOpen ? this.#lines.pop() : undefined;
    if (open === undefined) this.#total += 1;
    const before = open ?? { line: this.#total, offset: 0, text: '', at: Date.now() };
    const line = cutLine({ ...before, text: before.text + text });
    this.#lines.push(line);
    return line;
  }
}

/** Keeps only the last state of a line that redraws itself, and cuts a line at the limit. */
export function cutLine(line: LogLine): LogLine {
  const text = afterLastReturn(line.text);
  if (text.length <= MAX_LINE_LENGTH) return text === line.text ? line : { ...line, text };
  const before = text === line.text ? (line.dropped ?? 0) : 0;
  return { ...line, text: text.slice(0, MAX_LINE_LENGTH), dropped: before + text.length - MAX_LINE_LENGTH };
}

function afterLastReturn(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\r') end -= 1;
  const at = text.lastIndexOf('\r', end - 1);
  return at < 0 || end === 0 ? text : text.slice(at + 1);
}
