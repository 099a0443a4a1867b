/**
 * The protocol of a Redis server (RESP2, which every version speaks): commands as text, and answers from the bytes that
 * arrive.
 *
 *     command  *2 $3 GET $1 a          answers  +OK   -ERR message   :12   $3 abc   $-1 (none)   *2 and two more answers
 */

/** An error that the server answered. Its message begins with a code. */
export class ErrorReply extends Error {}

/** What the server sent is not of its protocol. */
export class ProtocolError extends Error {}

export type Reply = string | number | null | Uint8Array | ErrorReply | Reply[];

const LINE_END = '\r\n';
const [CR, MINUS, ZERO] = [13, 45, 48];
const [STATUS, ERROR, NUMBER, TEXT, LIST] = [43, 45, 58, 36, 42];
/** Longer texts are refused by every server. */
const MAX_LENGTH = 2 ** 32;

/** A list begins; its items follow. */
const BEGUN = Symbol('a list begins');

export function encodeCommand(command: readonly string[]): string {
  let text = `*${command.length}${LINE_END}`;
  for (const part of command) text += `$${Buffer.byteLength(part)}${LINE_END}${part}${LINE_END}`;
  return text;
}

/** A list whose items have not all arrived. */
interface OpenList {
  readonly items: Reply[];
  readonly length: number;
}

/** Finds answers in the bytes of a connection, however they are cut. */
export class ReplyReader {
  /** Bytes that were not read yet, in the order of their arrival. */
  #unread: Buffer[] = [];
  #length = 0;
  /** How many of them there must be before there is more to read. */
  #needed = 1;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** The innermost list is the last. */
  readonly #lists: OpenList[] = [];
  #replies: Reply[] = [];

  /**
   * Returns the answers that are complete. `isBinary` tells whether the texts of an answer are returned as bytes, by the
   * number of answers before it in this call. Throws ProtocolError.
   */
  read(bytes: Buffer, isBinary: (before: number) => boolean): readonly Reply[] {
    this.#replies = [];
    this.#unread.push(bytes);
    this.#length += bytes.length;
    if (this.#length < this.#needed) return this.#replies;
    this.#bytes = this.#unread.length === 1 ? bytes : Buffer.concat(this.#unread, this.#length);
    this.#at = 0;
    this.#needed = 1;
    while (this.#at < this.#bytes.length && this.#readNext(isBinary)) continue;
    const rest = this.#at === 0 ? this.#bytes : this.#bytes.subarray(this.#at);
    this.#unread = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return this.#replies;
  }

  /** Returns whether all of what begins here has arrived. */
  #readNext(isBinary: (before: number) => boolean): boolean {
    const start = this.#at;
    const end = this.#bytes.indexOf(CR, start);
    const next = end < 0 ? undefined : this.#next(start, end, isBinary);
    if (next === undefined || this.#at > this.#bytes.length) {
      this.#needed = Math.max(this.#at, this.#bytes.length + 1) - start;
      this.#at = start;
      return false;
    }
    if (next !== BEGUN) this.#add(next);
    return true;
  }

  /** Returns what begins here, and moves behind it. If it ends beyond the bytes, what is returned is not of use. */
  #next(start: number, end: number, isBinary: (before: number) => boolean): Reply | typeof BEGUN | undefined {
    const from = start + 1;
    this.#at = end + LINE_END.length;
    switch (this.#bytes[start]) {
      case TEXT:
        return this.#text(this.#number(from, end), isBinary);
      case LIST:
        return this.#at > this.#bytes.length ? undefined : this.#list(this.#number(from, end));
      case NUMBER:
        return this.#number(from, end);
      case STATUS:
        return this.#bytes.toString('utf8', from, end);
      case ERROR:
        return new ErrorReply(this.#bytes.toString('utf8', from, end));
      default:
        throw new ProtocolError(`the server sent what is not of its protocol: byte ${this.#bytes[start]}`);
    }
  }

  #number(from: number, end: number): number {
    let number = 0;
    const isNegative = this.#bytes[from] === MINUS;
    for (let at = isNegative ? from + 1 : from; at < end; at += 1) {
      const digit = (this.#bytes[at] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) throw new ProtocolError('the server sent a number with other characters than digits');
      number = number * 10 + digit;
    }
    return isNegative ? -number : number;
  }

  #text(length: number, isBinary: (before: number) => boolean): string | Uint8Array | null | undefined {
    if (length < 0) return null;
    if (length > MAX_LENGTH) throw new ProtocolError(`the server sent a text of ${length} bytes`);
    const [from, end] = [this.#at, this.#at + length];
    this.#at = end + LINE_END.length;
    if (this.#at > this.#bytes.length) return undefined;
    if (isBinary(this.#replies.length)) return Uint8Array.from(this.#bytes.subarray(from, end));
    return this.#bytes.toString('utf8', from, end);
  }

  #list(length: number): Reply[] | null | typeof BEGUN {
    if (length < 0) return null;
    if (length === 0) return [];
    this.#lists.push({ items: [], length });
    return BEGUN;
  }

  /** Adds what was read to its list, and a list that is complete thereby to the one around it. */
  #add(read: Reply): void {
    let reply = read;
    for (let list = this.#lists.at(-1); list !== undefined; list = this.#lists.at(-1)) {
      list.items.push(reply);
      if (list.items.length < list.length) return;
      this.#lists.pop();
      reply = list.items;
    }
    this.#replies.push(reply);
  }
}
