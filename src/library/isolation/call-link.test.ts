import { expect, test } from 'vitest';
import { LonghaulError } from '../../core/ports/errors.ts';
import { CallLink, type CallMessage } from './call-link.ts';

/** Two ends whose messages are cloned, as between processes. */
function connect(targets: readonly [object, object], runs: readonly [number, number] = [1, 1]): [CallLink, CallLink] {
  const links: CallLink[] = [];
  const send = (to: number) => (message: CallMessage) => {
    const copy = structuredClone(message);
    queueMicrotask(() => links[to]?.receive(copy));
  };
  links.push(
    new CallLink({ run: runs[0], target: targets[0], send: send(1) }),
    new CallLink({ run: runs[1], target: targets[1], send: send(0) }),
  );
  return links as [CallLink, CallLink];
}

async function* count(to: number, onEnd: () => void = () => undefined): AsyncGenerator<Uint8Array> {
  try {
    for (let n = 0; n < to; n += 1) yield Uint8Array.of(n);
  } finally {
    onEnd();
  }
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<number[]> {
  const all: number[] = [];
  for await (const piece of stream) all.push(...piece);
  return all;
}

test('Calls reach functions by name, in objects too, with URLs and errors.', async () => {
  const target = {
    files: { list: async (id: string) => [`${id}.txt`] },
    attach: async (place: URL) => [place instanceof URL, place.pathname],
    refuse: () => Promise.reject(new LonghaulError('refused', 'no')),
  };
  const [isolate] = connect([{}, target]);
  expect(await isolate.ask('files.list', '7')).toEqual(['7.txt']);
  expect(await isolate.ask('attach', new URL('file:///a/b'))).toEqual([true, '/a/b']);
  await expect(isolate.ask('refuse')).rejects.toMatchObject({ code: 'refused', message: 'no' });
  await expect(isolate.ask('missing')).rejects.toThrow('the worker has no call missing');
});

test('Streams are read piece by piece in both directions, and closed when the reader stops.', async () => {
  let ended = 0;
  const target = {
    open: async () => count(3),
    endless: async () => count(Number.POSITIVE_INFINITY, () => (ended += 1)),
    attach: (name: string, stream: AsyncIterable<Uint8Array>) => collect(stream).then((bytes) => [name, bytes]),
  };
  const [isolate] = connect([{}, target]);
  expect(await collect(await isolate.ask<AsyncIterable<Uint8Array>>('open'))).toEqual([0, 1, 2]);
  expect(await isolate.ask('attach', 'x', count(4))).toEqual(['x', [0, 1, 2, 3]]);
  for await (const piece of await isolate.ask<AsyncIterable<Uint8Array>>('endless')) if (piece[0] === 2) break;
  await expect.poll(() => ended).toBe(1);
});

test('The end of a job rejects its open calls, closes its streams, and lets no call act on the next job.', async () => {
  let [ended, acted] = [0, 0];
  const target = {
    never: () => new Promise(() => undefined),
    endless: async () => count(9, () => (ended += 1)),
    act: () => (acted += 1),
  };
  const [isolate, worker] = connect([{}, target]);
  const [first] = [await isolate.ask<AsyncIterable<Uint8Array>>('endless')];
  await first[Symbol.asyncIterator]().next();
  const open = isolate.ask('never');
  isolate.end();
  worker.end();
  await expect(open).rejects.toThrow('the job has ended');
  await expect.poll(() => ended).toBe(1);
  const [late] = connect([{}, target], [1, 2]);
  late.tell('act');
  await new Promise((resolve) => setImmediate(resolve));
  expect(acted).toBe(0);
});
