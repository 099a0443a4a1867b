/** Hundreds of event stream readers that never read: their memory is bounded, and active readers miss no event. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { StreamBuffers } from '../../src/server/streams/stream-buffers.ts';
import { readEvents } from '../server-files/stream-reader.ts';
import type { TrialServer } from './trial-server.ts';
import { startTrial } from './trial-server.ts';

const READERS = 200;
const LIMIT = 4 * 1024 ** 2;
const JOBS = 500;
/** More than the kernel buffers for a reader on the loopback. */
const ROUNDS = 8;

/** A connection that opens a stream and reads nothing. */
async function openDeaf({ port }: TrialServer, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Adds jobs with wide rows, so that each is an event of more than a kilobyte. */
async function addJobs({ store }: TrialServer, round: number): Promise<void> {
  const tags = Array.from({ length: 10 }, (_, number) => `${number}-${'x'.repeat(120)}`);
  const ids = Array.from({ length: JOBS }, (_, number) => `wide-${round}-${number}`);
  await store.jobs.add(ids.map((id) => ({ id, queue: 'wide', data: '1', tags })));
}

it(`${READERS} readers that never read stay within the limit of all streams; the slowest are dropped first`, async () => {
  const buffers = new StreamBuffers(LIMIT);
  const server = await startTrial({ buffers });
  // Half of them read from the ring, half directly from the store.
  for (let number = 0; number < READERS; number += 1)
    await openDeaf(server, number % 2 === 0 ? '/api/events' : '/api/store/events');
  const quick = await readEvents({ host: '127.0.0.1', port: server.port, path: '/api/events', headers: {} });
  onTestFinished(() => quick.close());
  await quick.next(({ event }) => event === 'ready');
  await expect.poll(() => buffers.size).toBe(READERS + 1);
  let most = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await addJobs(server, round);
    await quick.next(({ data }) => data['id'] === `wide-${round}-${JOBS - 1}`);
    most = Math.max(most, buffers.unreadBytes);
  }
  process.stdout.write(`\nfigures: ${READERS} readers that never read left at most ${most} bytes unread together\n`);
  expect(most).toBeGreaterThan(LIMIT / 4);
  expect(most).toBeLessThanOrEqual(LIMIT);
  expect(buffers.size).toBeLessThan(READERS);
  expect(quick.isOver).toBe(false);
  expect(quick.messages.filter(({ event }) => event === 'job').length).toBe(JOBS * ROUNDS);
});
