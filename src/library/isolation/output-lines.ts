/** Splits the bytes of an output into lines of text, for the events of a worker. */
import { StringDecoder } from 'node:string_decoder';

/** A longer line is passed on in parts. */
const MAX_LINE = 64 * 1024;

export interface OutputLines {
  write(bytes: Uint8Array): void;
  /** Passes on a last line without a newline. */
  end(): void;
}

export function splitLines(onLine: (line: string) => void): OutputLines {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    write(bytes) {
      const lines = (rest + decoder.write(Buffer.from(bytes))).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
      if (rest.length < MAX_LINE) return;
      onLine(rest);
      rest = '';
    },
    end() {
      rest += decoder.end();
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
