/**
 * The end of a log while it grows: text that comes in pieces of any length becomes numbered lines. Pure.
 *
 * The last line of what was fetched may have been half written. So the stream begins at that line once more, and what
 * it says takes the place of what was fetched; whether it had ended need not be known.
 */

export interface LogLine {
  readonly line: number;
  readonly offset: number;
  readonly text: string;
  readonly at: number | null;
  /** How many characters were left out at its end; the file has all of it. */
  readonly dropped?: number;
}

const MOST_LIVE = 8_000;
const KEPT_LIVE = 4_000;
const MOST_KEPT = 20_000;

export class LiveLines {
  #lines: LogLine[] = [];
  #total = 0;
  /** Whether the last line may still grow. */
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

  /** Answers from which byte on the stream has to tell. */
  startWith(lines: readonly LogLine[]): number {
    const last = lines.at(-1);
    this.#lines = lines.map(cutLine);
    this.#total = last?.line ?? 0;
    this.#isOpen = last !== undefined;
    this.#isReread = this.#isOpen;
    return last?.offset ?? 0;
  }

  /** Answers the lines that are whole by now and were not before. */
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
    if (this.#lines.length > MOST_LIVE) this.#lines.splice(0, this.#lines.length - KEPT_LIVE);
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

/** A bar that redraws itself for hours is one line; only its last drawing is kept. And no line is kept beyond a limit. */
export function cutLine(line: LogLine): LogLine {
  const text = afterLastReturn(line.text);
  if (text.length <= MOST_KEPT) return text === line.text ? line : { ...line, text };
  const before = text === line.text ? (line.dropped ?? 0) : 0;
  return { ...line, text: text.slice(0, MOST_KEPT), dropped: before + text.length - MOST_KEPT };
}

function afterLastReturn(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\r') end -= 1;
  const at = text.lastIndexOf('\r', end - 1);
  return at < 0 || end === 0 ? text : text.slice(at + 1);
}
