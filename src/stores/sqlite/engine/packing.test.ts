/** Messages between threads arrive as they were sent, packed or not. */
import { describe, expect, it } from 'vitest';
import { claimed, created } from '../../../core/lifecycle/lifecycle.ts';
import type { NewJob, Settlement, StoreEvent } from '../../../core/ports/job-store.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings/settings.ts';
import type { RequestName } from './messages.ts';
import { packAnswer, packArgument, packEvents, unpackAnswer, unpackArgument, unpackEvents } from './packing.ts';

const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({ id, queue: 'mail', data: '{"a":1}', ...more });
const done = (id: string, more: object = {}): Settlement => ({ id, token: 3, kind: 'complete', ...more });

const failed = (id: string, message: string): Settlement => {
  return { id, token: 3, kind: 'retry', failure: { group: 'Error', message, detail: null }, delayMs: 0 };
};

const there = (name: RequestName, argument: unknown) =>
  unpackArgument(name, structuredClone(packArgument(name, argument)));
const back = (name: RequestName, answer: unknown, argument?: unknown) =>
  unpackAnswer(name, structuredClone(packAnswer(name, answer)), argument);

describe('an argument', () => {
  it.each<{ what: string; jobs: readonly NewJob[] }>([
    { what: 'none', jobs: [] },
    { what: 'plain ones', jobs: [job('a'), job('b')] },
    { what: 'of several queues', jobs: [job('a'), job('b', { queue: 'film' })] },
    { what: 'one with a name', jobs: [job('a'), job('b', { name: 'n' })] },
    { what: 'one with tags', jobs: [job('a', { tags: [] })] },
    { what: 'one with a key', jobs: [job('a', { unique: { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } })] },
    { what: 'one with a priority', jobs: [job('a', { priority: 0 })] },
    { what: 'one with a policy', jobs: [job('a', { policy: {} })] },
    { what: 'a later one', jobs: [job('a', { runAt: 5 }), job('b', { delayMs: 0 })] },
    { what: 'a draft', jobs: [job('a', { draft: false })] },
  ])('of new jobs arrives: $what', ({ jobs }) => {
    expect(there('add', jobs)).toEqual(jobs);
  });

  it.each<{ what: string; settlements: readonly Settlement[] }>([
    { what: 'none', settlements: [] },
    { what: 'plain completions', settlements: [done('a', { result: 'null' }), done('b')] },
    { what: 'with data', settlements: [done('a', { data: '1' })] },
    { what: 'with a next queue', settlements: [done('a'), done('b', { next: { queue: 'q', delayMs: 0 } })] },
    { what: 'failures', settlements: ['x', 'x', 'y', 'x'].map((message, n) => failed(`${n}`, message)) },
    { what: 'a release', settlements: [done('a'), { id: 'b', token: 4, kind: 'release', reason: 'r' }] },
  ])('of settlements arrives: $what', ({ settlements }) => {
    expect(there('settle', settlements)).toEqual(settlements);
  });

  it('has equal failures as one object', () => {
    const arrived = there('settle', [failed('a', 'x'), failed('b', 'x'), failed('c', 'y')]) as { failure: unknown }[];
    expect(arrived[1]?.failure).toBe(arrived[0]?.failure);
    expect(arrived[2]?.failure).not.toBe(arrived[0]?.failure);
  });

  it('is packed into one list if it is plain', () => {
    expect(packArgument('add', [job('a'), job('b')])).toEqual(['mail', 'a', '{"a":1}', 'b', '{"a":1}']);
    expect(packArgument('settle', [done('a', { result: '1' })])).toEqual(['a', 3, '1']);
  });
});

describe('an answer', () => {
  it('with leases arrives', () => {
    const { job: waiting } = created(job('a', { tags: ['x'], name: 'n' }), {
      now: 5,
      seq: 1,
      settings: DEFAULT_SETTINGS,
    });
    const { job: running } = claimed(waiting, { now: 6, token: 7, worker: 'w', leaseMs: 8 });
    const answer = { jobs: [running, { ...running, checkpoint: '1', tags: [] }], now: 6, nextAt: null };
    expect(back('claim', answer)).toEqual(answer);
  });

  it('of adds and settlements arrives, whatever the result', () => {
    const added = { ok: true, outcome: 'added', id: 'a', queue: 'mail', state: 'waiting' };
    const exists = { ...added, outcome: 'exists' };
    const draft = { ...added, state: 'draft' };
    const refused = { ok: false, refusal: { code: 'lease-lost', message: 'no' } };
    for (const answer of [[], [added], [added, exists], [draft], [refused]])
      expect(
        back(
          'add',
          answer,
          answer.map(() => job('a')),
        ),
      ).toEqual(answer);
    for (const answer of [[], [{ ok: true, state: 'done' }], [{ ok: true, state: 'cancelled' }], [refused]])
      expect(
        back(
          'settle',
          answer,
          answer.map(() => done('a')),
        ),
      ).toEqual(answer);
  });
});

it('events arrive in their order', () => {
  const event = (type: StoreEvent['type'], id: string): StoreEvent => ({ type, id, queue: 'q', state: 'waiting' });
  const events = [event('added', 'a'), event('added', 'b'), event('moved', 'a'), event('added', 'c')];
  expect(unpackEvents(structuredClone(packEvents(events)))).toEqual(events);
  expect(packEvents(events)).toHaveLength(3);
});
