/** A reader that disconnects before its stream opens leaves no timer behind: a timer would keep a node from ending. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEventStream } from './event-stream.ts';
import { StreamBuffers } from './stream-buffers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const aResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

it('has a timer while its reader is connected', () => {
  const reader = new AbortController();
  openEventStream(aResponse(), reader.signal, new StreamBuffers());
  expect(vi.getTimerCount()).toBe(1);
  reader.abort();
  expect(vi.getTimerCount()).toBe(0);
});

it('has no timer for a reader that disconnected before', () => {
  openEventStream(aResponse(), AbortSignal.abort(), new StreamBuffers());
  expect(vi.getTimerCount()).toBe(0);
});
