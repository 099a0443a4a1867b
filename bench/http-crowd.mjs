/**
 * Opens many connections, in a process of its own: `node http-crowd.mjs <port> <count>`.
 *
 * Most are idle after one request. One of twenty sends its headers so slowly that the server must close it, and one of two
 * hundred follows the events. A closed connection is opened again. Prints the counts as a line of JSON a second.
 */
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
const atOnce = 200;
const dripEveryMs = 2_000;
const head = 'Host: localhost\r\n';
const kinds = {
  idle: `GET /healthz HTTP/1.1\r\n${head}\r\n`,
  stream: `GET /api/events HTTP/1.1\r\n${head}\r\n`,
  slow: `GET /healthz HTTP/1.1\r\n${head}X-Slow: `,
};
const open = new Set();
const dripping = new Set();
let hungUp = 0;
let refused = 0;

function openConnection(kind) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let isConnected = false;
    socket.on('error', () => undefined);
    socket.once('connect', () => {
      isConnected = true;
      open.add(socket);
      socket.write(kinds[kind]);
      socket.resume();
      if (kind === 'slow') dripping.add(socket);
      resolve();
    });
    socket.once('close', () => {
      open.delete(socket);
      dripping.delete(socket);
      if (isConnected) hungUp += 1;
      else refused += 1;
      setTimeout(() => void openConnection(kind), 100);
      resolve();
    });
  });
}

const kindOf = (number) => (number % 20 === 0 ? 'slow' : number % 200 === 1 ? 'stream' : 'idle');
for (let number = 0; number < count; number += atOnce) {
  const group = Array.from({ length: Math.min(atOnce, count - number) }, (_, index) => kindOf(number + index));
  await Promise.all(group.map(openConnection));
}
setInterval(() => dripping.forEach((socket) => socket.write('x')), dripEveryMs);
setInterval(
  () => process.stdout.write(`${JSON.stringify({ open: open.size, slow: dripping.size, hungUp, refused })}\n`),
  1_000,
);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
