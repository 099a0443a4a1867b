/**
 * Separates the output of an isolated process from the marks in it. A mark follows the output of each job: messages and
 * output arrive through two streams, and only the mark shows that all output of a job was read.
 */

export interface OutputEvents {
  onOutput(bytes: Uint8Array): void;
  onMark(): void;
}

const NUL = '\0';

/** Returns the bytes of a mark. The nonce is random, so that no output contains it by accident. */
export const markOf = (nonce: string): Buffer => Buffer.from(`${NUL}${nonce}${NUL}`, 'latin1');

/** Returns a function that takes chunks. Only bytes that may be the beginning of a mark wait for the next chunk. */
export function createOutputReader(mark: Buffer, { onOutput, onMark }: OutputEvents): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark)) {
      if (at > 0) onOutput(bytes.subarray(0, at));
      onMark();
      bytes = bytes.subarray(at + mark.length);
    }
    const keptFrom = beginningOf(mark, bytes);
    if (keptFrom > 0) onOutput(bytes.subarray(0, keptFrom));
    rest = bytes.subarray(keptFrom);
  };
}

/** Returns where a mark begins that the bytes do not contain completely; their length for none. */
function beginningOf(mark: Buffer, bytes: Buffer): number {
  const first = Math.max(0, bytes.length - mark.length + 1);
  for (let at = bytes.indexOf(NUL, first); at >= 0; at = bytes.indexOf(NUL, at + 1))
    if (mark.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return at;
  return bytes.length;
}
