/**
 * The bytes of `said` as lines, however they were cut by writes and reads.
 *
 * Invariant: never holds more than a line's limit. What is beyond it is dropped up to the next newline, and the line
 * is marked as cut, so that a script which never ends a line costs nothing. JSON gets more room than the rest, since
 * half of it would be worth nothing.
 */

export const LINE_LIMIT = 4 * 1024;
export const JSON_LINE_LIMIT = 1024 * 1024;

export interface SaidLine {
  readonly text: string;
  /** Where it begins in the file: the same in every reading, so it can name what the line asked for. */
  readonly at: number;
  readonly isCut: boolean;
}

const newline = 0x0a;
const return_ = 0x0d;
// A tab may stay.
const controls = /[^\P{Cc}\t]/gu;
const jsonLine = /^(?:checkpoint|result) /;
const longestWord = 'checkpoint '.length;

export class SaidLines {
  #parts: Buffer[] = [];
  #length = 0;
  #isCut = false;
  #limit = LINE_LIMIT;
  #at: number;
  /** Bytes taken so far: where the next chunk belongs. */
  offset: number;

  constructor(offset: number) {
    this.offset = offset;
    this.#at = offset;
  }

  /** Where the line begins that is not whole yet. */
  get restAt(): number {
    return this.#at;
  }

  take(chunk: Buffer): SaidLine[] {
    const lines: SaidLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      lines.push(this.#line(chunk.subarray(from, end), this.offset + end + 1));
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    this.offset += chunk.length;
    return lines;
  }

  /** What was said without a newline before the script ended counts as a line, if it is anything at all. */
  finish(): SaidLine[] {
    return this.#length > 0 ? [this.#end(this.offset)] : [];
  }

  /** Most lines are whole and short, and need no copy. */
  #line(bytes: Buffer, nextAt: number): SaidLine {
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
    if (this.#length < longestWord) this.#limit = this.#limitOf(bytes);
    const room = this.#limit - this.#length;
    if (bytes.length > room) this.#isCut = true;
    if (room <= 0) return;
    // A copy: the chunk it is a part of will be used again.
    const kept = Buffer.from(bytes.subarray(0, room));
    this.#parts.push(kept);
    this.#length += kept.length;
  }

  #limitOf(bytes: Buffer): number {
    const start = Buffer.concat([...this.#parts, bytes.subarray(0, longestWord)]).toString('latin1');
    return jsonLine.test(start) ? JSON_LINE_LIMIT : LINE_LIMIT;
  }

  #end(nextAt: number): SaidLine {
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

/** A script may say any bytes; what is kept and shown is text without controls. */
function readable(bytes: Buffer): string {
  const end = bytes.at(-1) === return_ ? bytes.length - 1 : bytes.length;
  return bytes.toString('utf8', 0, end).replace(controls, '\ufffd');
}
