import { expect, it } from 'vitest';
import { LonghaulError } from '../../core/ports/errors.ts';
import { retryOnFullDisk } from './retry-on-full-disk.ts';

const FULL = [
  Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }),
  new LonghaulError('store-full', 'no space was left'),
];

function aStep(errors: readonly Error[]) {
  const left = [...errors];
  return () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
}

it('repeats a step until there is free space, and reports once that it waits', async () => {
  const waits: unknown[] = [];
  const { signal } = new AbortController();
  expect(await retryOnFullDisk(aStep(FULL), { signal, onWait: (error) => waits.push(error), retryMs: 1 })).toBe('done');
  expect(waits).toEqual([FULL[0]]);
});

it('throws every other error', async () => {
  const { signal } = new AbortController();
  const step = aStep([new Error('broken')]);
  await expect(retryOnFullDisk(step, { signal, onWait: () => undefined })).rejects.toThrow('broken');
});

it('tries once more and gives up when aborted', async () => {
  const abort = new AbortController();
  const waiting = retryOnFullDisk(aStep([...FULL, ...FULL]), { signal: abort.signal, onWait: () => abort.abort() });
  await expect(waiting).rejects.toThrow('no space was left');
});
