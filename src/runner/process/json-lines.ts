/**
 * Messages as lines of JSON over a pipe, for the runner process and its parent. One line is one message; the two
 * come from the same build, so nothing is checked beyond that a line is JSON.
 */

const newline = 0x0a;

/** Answers a function that takes chunks and calls with each message that is whole. */
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
