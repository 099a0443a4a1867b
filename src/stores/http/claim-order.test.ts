import { expect, it } from 'vitest';
import { ClaimOrder } from './claim-order.ts';

it('sends the claims of a worker one after another, whatever the answers, and those of others meanwhile', async () => {
  const order = new ClaimOrder();
  const sent: { name: string; resolve(): void; reject(error: Error): void }[] = [];
  const claim = (worker: string, name: string) =>
    order.send(
      worker,
      () => new Promise<string>((resolve, reject) => void sent.push({ name, resolve: () => resolve(name), reject })),
    );
  const aTurn = () => new Promise((resolve) => setImmediate(resolve));
  const names = async () => {
    await aTurn();
    return sent.map(({ name }) => name);
  };

  const answers = Promise.allSettled([
    claim('w', 'first'),
    claim('w', 'second'),
    claim('v', 'other'),
    claim('w', 'third'),
  ]);
  expect(await names()).toEqual(['first', 'other']);
  sent[0]?.reject(new Error('lost'));
  expect(await names()).toEqual(['first', 'other', 'second']);
  sent[2]?.resolve();
  expect(await names()).toEqual(['first', 'other', 'second', 'third']);
  sent[1]?.resolve();
  sent[3]?.resolve();
  expect((await answers).map((each) => (each.status === 'fulfilled' ? each.value : 'lost'))).toEqual([
    'lost',
    'second',
    'other',
    'third',
  ]);
});
