/**
 * Messages as lines of JSON over a pipe, between the runner process and its parent. Both come from the same build, so
 * messages are not validated beyond being JSON.
 */

const newline = 0x0a;

/** Returns a function that takes chunks and calls `receive` with each complete message. */
export function createLineReader(receive: (message: unknown) => void): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      from = end + 1;
      receive(JSON.parse(line.toString('utf8')));
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  };
}

export const toLine = (message: unknown): string => `${JSON.stringify(message)}\n`;
