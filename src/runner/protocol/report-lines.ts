/**
 * Splits the bytes of the report file into lines, however writes and reads split them.
 *
 * Invariant: holds at most one line limit in memory. Bytes beyond the limit are dropped up to the next newline, and the
 * line is marked as cut, so a script that never ends a line costs nothing. JSON has a higher limit, because half of it
 * is worthless.
 */

export const LINE_LIMIT = 4 * 1024;
export const JSON_LINE_LIMIT = 1024 * 1024;

export interface ReportLine {
  readonly text: string;
  /** Offset of the line in the file. It is the same on every read, so it identifies the request of the line. */
  readonly at: number;
  readonly isCut: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
// Tabs are kept.
const controls = /[^\P{Cc}\t]/gu;
const jsonLine = /^(?:checkpoint|result) /;
const longestVerb = 'checkpoint '.length;

export class ReportLines {
  #parts: Buffer[] = [];
  #length = 0;
  #isCut = false;
  #limit = LINE_LIMIT;
  #at: number;
  /** Bytes consumed so far: the offset of the next chunk. */
  offset: number;

  constructor(offset: number) {
    this.offset = offset;
    this.#at = offset;
  }

  /** Offset of the line that is not complete yet. */
  get restAt(): number {
    return this.#at;
  }

  take(chunk: Buffer): ReportLine[] {
    const lines: ReportLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      lines.push(this.#line(chunk.subarray(from, end), this.offset + end + 1));
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    this.offset += chunk.length;
    return lines;
  }

  /** Returns the last line if it has no newline; a script may end without one. */
  finish(): ReportLine[] {
    return this.#length > 0 ? [this.#end(this.offset)] : [];
  }

  /** Most lines are complete and short, and need no copy. */
  #line(bytes: Buffer, nextAt: number): ReportLine {
    if (this.#length > 0 || bytes.length > LINE_LIMIT) {
      this.#add(bytes);
      return this.#end(nextAt);
    }
    const line = { text: readable(bytes), at: this.#at, isCut: false };
    this.#at = nextAt;
    return line;
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#length < longestVerb) this.#limit = this.#limitOf(bytes);
    const room = this.#limit - this.#length;
    if (bytes.length > room) this.#isCut = true;
    if (room <= 0) return;
    // A copy, because the buffer of the chunk is reused.
    const kept = Buffer.from(bytes.subarray(0, room));
    this.#parts.push(kept);
    this.#length += kept.length;
  }

  #limitOf(bytes: Buffer): number {
    const start = Buffer.concat([...this.#parts, bytes.subarray(0, longestVerb)]).toString('latin1');
    return jsonLine.test(start) ? JSON_LINE_LIMIT : LINE_LIMIT;
  }

  #end(nextAt: number): ReportLine {
    const bytes = Buffer.concat(this.#parts);
    const line = { text: readable(bytes), at: this.#at, isCut: this.#isCut };
    this.#parts = [];
    this.#length = 0;
    this.#isCut = false;
    this.#limit = LINE_LIMIT;
    this.#at = nextAt;
    return line;
  }
}

/** Converts to text without control characters: a script may write any bytes. */
function readable(bytes: Buffer): string {
  const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
  return bytes.toString('utf8', 0, end).replace(controls, '\ufffd');
}
