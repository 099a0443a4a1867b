import { expect, test } from 'vitest';
import { Batcher, type BatchLimits } from './batcher.ts';

/** Batches that are answered by hand, each with its items doubled. */
function byHand(limits: BatchLimits) {
  const sent: { items: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<number, number>(
    (items) =>
      new Promise((resolve, reject) => {
        sent.push({ items, answer: () => resolve(items.map((item) => item * 2)), fail: reject });
      }),
    limits,
  );
  return { batcher, sent };
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

test('Calls of one turn travel together, and each caller gets the answers to its own.', async () => {
  const { batcher, sent } = byHand({ size: 10, batches: 1 });
  const answers = [batcher.submit([1, 2]), batcher.submit([3])];
  await aTurn();
  expect(sent.map(({ items }) => items)).toEqual([[1, 2, 3]]);
  sent[0]?.answer();
  expect(await Promise.all(answers)).toEqual([[2, 4], [6]]);
});

test('While as many batches are under way as may be, the next ones gather, in their order.', async () => {
  const { batcher, sent } = byHand({ size: 10, batches: 2 });
  const answers = [1, 2, 3, 4].map(async (item) => {
    await Promise.resolve();
    for (let turn = 0; turn < item; turn += 1) await aTurn();
    return batcher.submit([item]);
  });
  for (let turn = 0; turn < 6; turn += 1) await aTurn();
  expect(sent.map(({ items }) => items)).toEqual([[1], [2]]);
  sent[0]?.answer();
  await aTurn();
  expect(sent.map(({ items }) => items)).toEqual([[1], [2], [3, 4]]);
  for (const { answer } of sent) answer();
  expect(await Promise.all(answers)).toEqual([[2], [4], [6], [8]]);
});

test('Many that wait go in two halves, the second a turn later, and never a call in two.', async () => {
  const { batcher, sent } = byHand({ size: 10, batches: 2, halvesFrom: 4 });
  const answers = [[1], [2], [3], [4], [5, 6, 7]].map((items) => batcher.submit(items));
  await Promise.resolve();
  expect(sent.map(({ items }) => items)).toEqual([[1, 2, 3]]);
  await aTurn();
  expect(sent.map(({ items }) => items)).toEqual([
    [1, 2, 3],
    [4, 5, 6, 7],
  ]);
  for (const { answer } of sent) answer();
  expect(await Promise.all(answers)).toEqual([[2], [4], [6], [8], [10, 12, 14]]);
});

test('No batch is larger than it may be, also when one call is.', async () => {
  const { batcher, sent } = byHand({ size: 2, batches: 9 });
  const answers = [batcher.submit([1, 2, 3, 4, 5]), batcher.submit([6])];
  await aTurn();
  expect(sent.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  for (const { answer } of sent) answer();
  expect(await Promise.all(answers)).toEqual([[2, 4, 6, 8, 10], [12]]);
});

test('A batch that fails fails for each of its callers, and the next one is sent.', async () => {
  const { batcher, sent } = byHand({ size: 2, batches: 1 });
  const answers = [batcher.submit([1]), batcher.submit([2]), batcher.submit([3])];
  const outcomes = Promise.allSettled(answers);
  await aTurn();
  sent[0]?.fail(new Error('lost'));
  await aTurn();
  sent[1]?.answer();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('What waits can be taken along by another call, and is not sent again.', async () => {
  const { batcher, sent } = byHand({ size: 10, batches: 1 });
  const answer = batcher.submit([7]);
  const along = batcher.takeWaiting();
  expect(along?.items).toEqual([7]);
  await aTurn();
  expect(sent).toEqual([]);
  along?.answer([14]);
  expect(await answer).toEqual([14]);
  expect(batcher.takeWaiting()).toBeNull();
});
