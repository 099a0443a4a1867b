/** Two connected streams: what is written to one is read from the other. A connection within the process. */
import { Duplex } from 'node:stream';

type Done = (error?: Error | null) => void;

export function duplexPair(): readonly [Duplex, Duplex] {
  const a: Side = { stream: null, pending: null };
  const b: Side = { stream: null, pending: null };
  a.stream = sideOf(a, b);
  b.stream = sideOf(b, a);
  return [a.stream, b.stream];
}

interface Side {
  stream: Duplex | null;
  /** Continues the writer of the other side once this side was read. */
  pending: Done | null;
}

function sideOf(own: Side, other: Side): Duplex {
  return new Duplex({
    read() {
      const { pending } = own;
      own.pending = null;
      pending?.();
    },
    write(chunk: Buffer, _encoding, done: Done) {
      if (chunk.length === 0) return process.nextTick(done);
      other.pending = done;
      other.stream?.push(chunk);
    },
    final(done: Done) {
      other.stream?.push(null);
      done();
    },
    destroy(error, done: Done) {
      other.stream?.destroy();
      done(error);
    },
  });
}
