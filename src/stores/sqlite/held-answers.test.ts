/** When held answers are synced and sent. */
import { describe, expect, it } from 'vitest';
import type { Call } from './engine/engine-clients.ts';
import { HeldAnswers } from './held-answers.ts';

function heldAnswers() {
  const log: string[] = [];
  const held = new HeldAnswers({
    sync: () => void log.push('sync'),
    hasCalls: () => false,
    answer: () => void log.push('answer'),
    publish: (events) => void log.push(...events.map(({ type }) => type)),
    reply: () => undefined,
  });
  const transact = (name: 'settle' | 'add' = 'settle'): void => {
    held.hold({ request: { id: 1, name, argument: [], now: undefined } } as unknown as Call, { answer: [] });
    held.syncSoon();
  };
  return { held, log, transact };
}

describe('held answers', () => {
  it('of two transactions share a sync, and their events follow it', async () => {
    const { held, log, transact } = heldAnswers();
    transact();
    held.holdEvents([{ type: 'completed', id: 'a', queue: 'q', state: 'done' }]);
    expect(log).toEqual([]);
    transact();
    await expect.poll(() => log).toEqual(['sync', 'answer', 'answer', 'completed']);
  });

  it('of an add are synced at once', () => {
    const { log, transact } = heldAnswers();
    transact('add');
    expect(log).toEqual(['sync', 'answer']);
  });

  it('are synced at once after two waits in vain', async () => {
    const { log, transact } = heldAnswers();
    for (let waits = 1; waits <= 2; waits += 1) {
      transact();
      await expect.poll(() => log).toHaveLength(2 * waits);
    }
    transact();
    expect(log).toEqual(['sync', 'answer', 'sync', 'answer', 'sync', 'answer']);
  });
});
