/**
 * Reads multipart/form-data as a stream, part after part; it buffers no more than one chunk and the length of a delimiter.
 * The caller reads a part before it asks for the next; the unread rest of a part is skipped.
 */
import { createReadStream } from 'node:fs';
import { badInput } from '../../core/ports/errors.ts';

export interface Part {
  readonly name: string;
  /** Null for a plain field. */
  readonly file: string | null;
  readonly bytes: AsyncIterable<Buffer>;
}

const MAX_HEAD = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

export async function* readMultipart(source: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const text = new Cutter(source);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter stands at the very beginning, without the line end that goes before the others.
  text.putBack(Buffer.from('\r\n'));
  await drain(text.until(delimiter));
  for (;;) {
    if ((await text.take(2)).toString('latin1') === '--') return;
    const head = await gather(text.until(HEAD_END), MAX_HEAD);
    const bytes = text.until(delimiter);
    yield { ...nameOf(head.toString('utf8')), bytes };
    await drain(bytes);
  }
}

/** The other way round: a file as the one part of a form, `filedata`, as RQ's clients send it. */
export function formWithFile(
  path: string,
  name: string,
): { readonly type: string; readonly body: AsyncIterable<Uint8Array> } {
  const boundary = `longhaul-${process.pid}-${Date.now()}`;
  return { type: `multipart/form-data; boundary=${boundary}`, body: write(path, { name, boundary }) };
}

async function* write(
  path: string,
  { name, boundary }: { name: string; boundary: string },
): AsyncGenerator<Uint8Array> {
  const file = name.replaceAll('"', '%22');
  yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="x_format"\r\n\r\njson\r\n`);
  yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="filedata"; filename="${file}"\r\n\r\n`);
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

export async function gather(bytes: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > limit) throw broken(`a field has more than ${limit} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function drain(bytes: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of bytes) void piece;
}

/** A name is text between quotes, with escapes such as %22; a path in front of a file's name is left out. */
function nameOf(head: string): Pick<Part, 'name' | 'file'> {
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(head)?.[1] ?? '';
  const name = /(?:^|;)\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw broken('a part has no name');
  const file = /(?:^|;)\s*filename="([^"]*)"/i.exec(disposition)?.[1];
  return { name, file: file === undefined ? null : (unescaped(file).split(/[\\/]/).at(-1) ?? '') };
}

/** As RQ reads it: a name in which one % begins no escape has none. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const broken = (message: string): Error => badInput('form', [{ path: 'body', message }]);

/** A stream that is cut at marks which may lie across its pieces. */
class Cutter {
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  putBack(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held]);
  }

  async take(size: number): Promise<Buffer> {
    while (this.#held.length < size) await this.#more();
    const taken = this.#held.subarray(0, size);
    this.#held = this.#held.subarray(size);
    return taken;
  }

  /** Up to the mark, which is taken away too. Asked again after its end, it has nothing. */
  async *until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#held.indexOf(mark);
      const sure = at === -1 ? this.#held.length - mark.length + 1 : at;
      if (sure > 0) {
        const piece = this.#held.subarray(0, sure);
        this.#held = this.#held.subarray(sure);
        yield piece;
      }
      if (at !== -1) {
        this.#held = this.#held.subarray(mark.length);
        return;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#pieces.next();
    if (done === true) throw broken('ends in the middle of a part');
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
  }
}
