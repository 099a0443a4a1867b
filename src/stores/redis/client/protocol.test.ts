import { describe, expect, it } from 'vitest';
import { ErrorReply, encodeCommand, ProtocolError, type Reply, ReplyReader } from './protocol.ts';

const isText = () => false;
const ANSWERS =
  '+OK\r\n-ERR it is wrong\r\n:-12\r\n$5\r\nzwölf\r\n'.replace('$5', '$6') +
  '$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n*3\r\n$1\r\na\r\n*2\r\n:1\r\n*1\r\n$-1\r\n$2\r\n\r\n\r\n:7\r\n';
const READ = ['OK', new ErrorReply('ERR it is wrong'), -12, 'zwölf', null, null, [], '', ['a', [1, [null]], '\r\n'], 7];

function readAll(pieces: readonly Buffer[], isBinary = isText): Reply[] {
  const reader = new ReplyReader();
  return pieces.flatMap((piece) => reader.read(piece, isBinary));
}

describe('the reader of answers', () => {
  it('reads each kind', () => {
    expect(readAll([Buffer.from(ANSWERS)])).toEqual(READ);
  });

  it('reads them wherever they are cut in two', () => {
    const bytes = Buffer.from(ANSWERS);
    for (let at = 0; at <= bytes.length; at += 1)
      expect(readAll([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(READ);
  });

  it.each([1, 2, 3, 7])('reads them in pieces of %i bytes', (size) => {
    const bytes = Buffer.from(ANSWERS);
    const count = Math.ceil(bytes.length / size);
    const pieces = Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    expect(readAll(pieces)).toEqual(READ);
  });

  it('returns an answer with the piece that completes it, and not before', () => {
    const reader = new ReplyReader();
    expect(reader.read(Buffer.from('*2\r\n:1\r\n$3\r\nab'), isText)).toEqual([]);
    expect(reader.read(Buffer.from('c\r\n:5'), isText)).toEqual([[1, 'abc']]);
    expect(reader.read(Buffer.from('\r\n'), isText)).toEqual([5]);
  });

  it('reads a text of 20 MB in pieces of 64 KB in a time that grows with its length alone', () => {
    const text = 'x'.repeat(20_000_000);
    const bytes = Buffer.from(`$${text.length}\r\n${text}\r\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    );
    const startedAt = performance.now();
    expect(readAll(pieces)).toEqual([text]);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('returns bytes where they are wanted, and a copy of them', () => {
    const bytes = Buffer.from('*2\r\n$2\r\n\xff\xfe\r\n:1\r\n$1\r\na\r\n', 'latin1');
    const [list, text] = readAll([bytes], (before?: number) => before === 0);
    bytes.fill(0);
    expect(list).toEqual([Uint8Array.of(255, 254), 1]);
    expect(text).toBe('a');
  });

  it.each(['HTTP/1.1 400 Bad Request\r\n', ':1x\r\n', '$9999999999\r\n', '%1\r\n'])('refuses %j', (text) => {
    expect(() => readAll([Buffer.from(text)])).toThrow(ProtocolError);
  });
});

describe('the writer of commands', () => {
  it('counts bytes, not characters', () => {
    expect(encodeCommand(['SET', 'ö', ''])).toBe('*3\r\n$3\r\nSET\r\n$2\r\nö\r\n$0\r\n\r\n');
  });
});
