/** Which bytes a Range header asks for (RFC 9110, part 14). Pure. */

export interface ByteRange {
  readonly start: number;
  /** The first byte that is no longer wanted. */
  readonly end: number;
}

/** `whole` also for what is malformed, of another unit or of several parts: a server may leave those unheard. */
export type RangeAsked = 'whole' | 'outside' | ByteRange;

export function rangeOf(header: string | undefined, size: number): RangeAsked {
  const [, first, last] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') return ofLast(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (end <= start && last !== '') return 'whole';
  return start < size ? { start, end: Math.min(end, size) } : 'outside';
}

/** `-500`: the last 500 bytes, or all when there are not as many. */
function ofLast(count: number, size: number): RangeAsked {
  return count === 0 || size === 0 ? 'outside' : { start: Math.max(0, size - count), end: size };
}
