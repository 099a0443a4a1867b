import { describe, expect, it } from 'vitest';
import { failureOf } from '../core/job/failure.ts';
import type { ActiveJob, Handler } from './active-job.ts';
import { callUserHandler } from './call-user-handler.ts';

const job = { id: 'a' } as ActiveJob<unknown>;

async function detailOf(handler: Handler<unknown, unknown>): Promise<string> {
  const error: unknown = await callUserHandler(handler, job).catch((reason: unknown) => reason);
  return failureOf(error).detail ?? '';
}

function readFilm(): never {
  throw new RangeError('no film');
}

async function readLater(): Promise<never> {
  await Promise.resolve();
  return readFilm();
}

function report(): never {
  try {
    readFilm();
  } catch (cause) {
    throw new Error('no report', { cause });
  }
}

describe('the stack of a failure', () => {
  it.each([
    ['throws', async () => readFilm(), 1],
    ['throws at once', () => readFilm(), 1],
    ['throws after it has waited', async () => readLater(), 1],
    ['throws an error with a cause', async () => report(), 2],
  ])('ends at a handler that %s', async (_what, handler, stacks) => {
    const detail = await detailOf(handler);
    expect(detail.split('caused by').every((stack) => stack.includes('readFilm') || stack.includes('report'))).toBe(
      true,
    );
    expect(detail.split('caused by')).toHaveLength(stacks);
    expect(detail).toContain('call-user-handler.test.ts');
    expect(detail).not.toMatch(/callUserHandler|call-user-handler\.ts/);
  });

  it('keeps what follows the frames, and a frame of another function', async () => {
    const error = new Error('no film');
    error.stack =
      'Error: no film\n    at play (a.ts:1:1)\n    at callUserHandlers (b.ts:1:1)\n    at async callUserHandler$1 (c.ts:1:1)\n    at run (d.ts:1:1)\nseen twice';
    expect(failureOf(error).detail).toBe(
      'Error: no film\n    at play (a.ts:1:1)\n    at callUserHandlers (b.ts:1:1)\nseen twice',
    );
  });
});
