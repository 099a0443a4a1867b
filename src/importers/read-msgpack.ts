/** A MessagePack decoder for the history of qless jobs. Supports everything except extensions; never trusts a length. */

const INVALID = Symbol('invalid');

/** Returns undefined if the bytes are not exactly one valid value. */
export function readMsgpack(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.value();
  return value === INVALID || !reader.isAtEnd ? undefined : value;
}

class Reader {
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#view.byteLength;
  }

  value(): unknown {
    const head = this.#number(1, (view, at) => view.getUint8(at));
    if (head === null) return INVALID;
    if (head <= 0x7f) return head;
    if (head >= 0xe0) return head - 0x100;
    if (head <= 0x8f) return this.#map(head & 0x0f);
    if (head <= 0x9f) return this.#list(head & 0x0f);
    if (head <= 0xbf) return this.#text(head & 0x1f);
    return this.#prefixed(head);
  }

  #prefixed(head: number): unknown {
    if (head === 0xc0) return null;
    if (head === 0xc2 || head === 0xc3) return head === 0xc3;
    if (head >= 0xca && head <= 0xd3) return this.#numeric(head) ?? INVALID;
    const length = this.#lengthOf(head);
    if (length === null) return INVALID;
    if (head >= 0xde) return this.#map(length);
    return head >= 0xdc ? this.#list(length) : this.#text(length);
  }

  #numeric(head: number): number | null {
    switch (head) {
      case 0xca:
        return this.#number(4, (view, at) => view.getFloat32(at));
      case 0xcb:
        return this.#number(8, (view, at) => view.getFloat64(at));
      case 0xcf:
        return this.#number(8, (view, at) => Number(view.getBigUint64(at)));
      case 0xd0:
        return this.#number(1, (view, at) => view.getInt8(at));
      case 0xd1:
        return this.#number(2, (view, at) => view.getInt16(at));
      case 0xd2:
        return this.#number(4, (view, at) => view.getInt32(at));
      case 0xd3:
        return this.#number(8, (view, at) => Number(view.getBigInt64(at)));
      default:
        return this.#unsigned(1 << (head - 0xcc));
    }
  }

  /** Returns the length of bytes (c4 to c6), texts (d9 to db), lists (dc, dd) and maps (de, df); null for other types. */
  #lengthOf(head: number): number | null {
    if (head >= 0xc4 && head <= 0xc6) return this.#unsigned(1 << (head - 0xc4));
    if (head >= 0xd9 && head <= 0xdb) return this.#unsigned(1 << (head - 0xd9));
    return head >= 0xdc && head <= 0xdf ? this.#unsigned(head % 2 === 0 ? 2 : 4) : null;
  }

  #unsigned(size: number): number | null {
    return this.#number(size, (view, at) =>
      size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at) : view.getUint32(at),
    );
  }

  #number(size: number, read: (view: DataView, at: number) => number): number | null {
    if (this.#at + size > this.#view.byteLength) return null;
    this.#at += size;
    return read(this.#view, this.#at - size);
  }

  #text(length: number): unknown {
    if (this.#at + length > this.#view.byteLength) return INVALID;
    const { buffer, byteOffset } = this.#view;
    this.#at += length;
    return new TextDecoder().decode(new Uint8Array(buffer, byteOffset + this.#at - length, length));
  }

  #list(length: number): unknown {
    const values: unknown[] = [];
    for (let count = 0; count < length; count += 1) {
      const value = this.value();
      if (value === INVALID) return INVALID;
      values.push(value);
    }
    return values;
  }

  #map(length: number): unknown {
    const all = this.#list(length * 2);
    if (!Array.isArray(all)) return INVALID;
    return Object.fromEntries(Array.from({ length }, (_, at) => [String(all[2 * at]), all[2 * at + 1] as unknown]));
  }
}
