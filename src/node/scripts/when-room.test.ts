import { expect, it } from 'vitest';
import { LonghaulError } from '../../core/ports/errors.ts';
import { whenRoom } from './when-room.ts';

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

it('repeats a step until there is room, and tells once that it waits', async () => {
  const waits: unknown[] = [];
  const { signal } = new AbortController();
  expect(await whenRoom(aStep(FULL), { signal, onWait: (error) => waits.push(error), retryMs: 1 })).toBe('done');
  expect(waits).toEqual([FULL[0]]);
});

it('throws what is not a full disk', async () => {
  const { signal } = new AbortController();
  const step = aStep([new Error('broken')]);
  await expect(whenRoom(step, { signal, onWait: () => undefined })).rejects.toThrow('broken');
});

it('tries once more and gives up when it is aborted', async () => {
  const abort = new AbortController();
  const waiting = whenRoom(aStep([...FULL, ...FULL]), { signal: abort.signal, onWait: () => abort.abort() });
  await expect(waiting).rejects.toThrow('no space was left');
});
