/** A reader that has gone before its stream was opened leaves nothing behind: a timer of its own would keep a node from ending. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEventStream } from './event-stream.ts';
import { StreamBuffers } from './stream-buffers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const aResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

it('has a timer while its reader is there', () => {
  const reader = new AbortController();
  openEventStream(aResponse(), reader.signal, new StreamBuffers());
  expect(vi.getTimerCount()).toBe(1);
  reader.abort();
  expect(vi.getTimerCount()).toBe(0);
});

it('has none for a reader that had gone before', () => {
  openEventStream(aResponse(), AbortSignal.abort(), new StreamBuffers());
  expect(vi.getTimerCount()).toBe(0);
});
