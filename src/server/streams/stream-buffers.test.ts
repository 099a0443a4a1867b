import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { Reader } from './stream-buffers.ts';
import { StreamBuffers } from './stream-buffers.ts';

/** A reader that reads only when `take` is called. */
class SlowReader extends EventEmitter implements Reader {
  writableLength = 0;
  isDropped = false;

  take(): void {
    this.writableLength = 0;
    this.emit('drain');
  }

  destroy(): void {
    this.isDropped = true;
    this.emit('close');
  }
}

function readersOf(buffers: StreamBuffers, count: number): readonly SlowReader[] {
  const readers = Array.from({ length: count }, () => new SlowReader());
  for (const reader of readers) buffers.add(reader);
  return readers;
}

function write(buffers: StreamBuffers, reader: SlowReader, bytes: number): void {
  buffers.reserve(reader, bytes);
  if (!reader.isDropped) reader.writableLength += bytes;
}

it('drops the readers whose bytes have waited longest, and no more than makes room', () => {
  let now = 0;
  const buffers = new StreamBuffers(1_000, () => now);
  const readers = readersOf(buffers, 10);
  for (const reader of readers) {
    now += 1;
    write(buffers, reader, 100);
  }
  expect(readers.some(({ isDropped }) => isDropped)).toBe(false);
  // The first reader reads everything, so its next bytes have waited for the shortest time.
  readers[0]?.take();
  now += 1;
  write(buffers, readers[0] as SlowReader, 100);
  expect(readers.map(({ isDropped }) => isDropped)).toEqual([false, ...Array(5).fill(true), ...Array(4).fill(false)]);
  expect(buffers.unreadBytes).toBe(500);
  expect(buffers.size).toBe(5);
});

it('counts neither bytes that were read nor readers that disconnected', () => {
  const buffers = new StreamBuffers(1_000);
  const [quick, gone] = readersOf(buffers, 2) as [SlowReader, SlowReader];
  write(buffers, gone, 700);
  gone.destroy();
  for (let round = 0; round < 100; round += 1) {
    write(buffers, quick, 300);
    quick.take();
  }
  expect(quick.isDropped).toBe(false);
  expect(buffers.size).toBe(1);
});

it('stays below its limit whatever is written', () => {
  const buffers = new StreamBuffers(1_000);
  for (let round = 0; round < 1_000; round += 1) {
    const [reader] = readersOf(buffers, 1) as [SlowReader];
    write(buffers, reader, (round * 37) % 300);
    expect(buffers.unreadBytes).toBeLessThanOrEqual(1_000);
  }
});
