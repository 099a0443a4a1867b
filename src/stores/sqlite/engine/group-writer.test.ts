/** Groups of calls in one transaction, on a real file. */
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { NewJob, QueueCounts } from '../../../core/ports/job-store.ts';
import { Ballast } from './ballast.ts';
import { FileHealth } from './file-health.ts';
import type { Group } from './group-writer.ts';
import { GroupWriter } from './group-writer.ts';
import type { Request, RequestName } from './messages.ts';
import { Session } from './session.ts';
import { StoreClock } from './store-clock.ts';

removeFoldersAtTheEnd();

let session: Session | undefined;
afterEach(() => session?.close());

function openSession(path: string): Session {
  const opened = new Session({
    path,
    durability: 'full',
    clock: new StoreClock('store'),
    isAnyoneListening: () => false,
    heard: () => undefined,
  });
  opened.enter();
  return opened;
}

async function openWriter(): Promise<{ writer: GroupWriter; ballast: Ballast; path: string }> {
  const path = await aDatabasePath();
  session = openSession(path);
  const ballast = new Ballast(path, () => undefined);
  const health = new FileHealth({ path, probe: () => session?.probe() });
  onTestFinished(() => health.close());
  return { writer: new GroupWriter(session, ballast, health), ballast, path };
}

/** In as many groups as a slow machine may need. */
function writeAll(writer: GroupWriter, requests: readonly Request[]): Group {
  const { outcomes, events } = writer.write(requests);
  if (outcomes.length === requests.length) return { outcomes, events };
  const rest = writeAll(writer, requests.slice(outcomes.length));
  return { outcomes: [...outcomes, ...rest.outcomes], events: [...events, ...rest.events] };
}

const request = (name: RequestName, argument: unknown): Request => [1, name, argument, undefined];
const addition = (...jobs: readonly NewJob[]): Request => request('add', jobs);
const aJob = (id: string, changes: Partial<NewJob> = {}): NewJob => ({ id, queue: 'mail', data: '{}', ...changes });
/** No text: SQLite takes it for no value. */
const unwritable = aJob('unwritable', { data: Symbol('data') as never });

function countOf(writer: GroupWriter): QueueCounts | undefined {
  const [outcome] = writer.write([request('count', undefined)]).outcomes;
  return ((outcome as { answer: readonly QueueCounts[] }).answer ?? [])[0];
}

describe('a group of calls', () => {
  it('answers each of them, and tells what all of them changed', async () => {
    const { writer } = await openWriter();
    const { outcomes, events } = writeAll(writer, [addition(aJob('a')), addition(aJob('b'), aJob('c'))]);
    expect(outcomes).toMatchObject([{ answer: [{ id: 'a' }] }, { answer: [{ id: 'b' }, { id: 'c' }] }]);
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('does the others when one of them throws, and of that one nothing', async () => {
    const { writer } = await openWriter();
    const { outcomes, events } = writeAll(writer, [
      addition(aJob('a')),
      addition(aJob('b'), unwritable),
      addition(aJob('c')),
    ]);
    expect(outcomes).toMatchObject([{ answer: [{ id: 'a' }] }, { error: {} }, { answer: [{ id: 'c' }] }]);
    expect(events.map(({ id }) => id)).toEqual(['a', 'c']);
    expect(countOf(writer)).toMatchObject({ waiting: 2 });
    expect(writer.write([request('find', ['a', 'b', 'c'])]).outcomes).toMatchObject([
      { answer: [{ id: 'a' }, null, { id: 'c' }] },
    ]);
  });

  it('takes the settings back that a call which throws has put', async () => {
    const { writer } = await openWriter();
    const down = request('records.put', { kind: 'queue', key: 'mail', value: '{"state":"down"}' });
    const broken = request('records.put', { kind: 'queue', key: 'mail', value: Symbol('value') });
    writeAll(writer, [down, broken]);
    expect(writer.write([addition(aJob('a'))]).outcomes).toMatchObject([{ answer: [{ ok: false }] }]);
  });

  it('ends when its time is up, and leaves the rest for the next', async () => {
    const { writer } = await openWriter();
    const many = (name: string) => addition(...Array.from({ length: 10_000 }, (_, each) => aJob(`${name}${each}`)));
    const { outcomes } = writer.write([many('a'), many('b')]);
    expect(outcomes).toHaveLength(1);
    expect(countOf(writer)).toMatchObject({ waiting: 10_000 });
  });

  it('takes no new jobs while the ballast is gone, and all other calls', async () => {
    const { writer, ballast } = await openWriter();
    writer.write([addition(aJob('a'))]);
    ballast.giveUp();
    expect(writeAll(writer, [addition(aJob('b')), request('cancel', [{ id: 'a' }])]).outcomes).toMatchObject([
      { error: { code: 'store-full' } },
      { answer: [{ outcome: 'cancelled' }] },
    ]);
  });

  it('leaves no transaction open when it cannot begin: the next group is written', async () => {
    const { writer, path } = await openWriter();
    // The clock file is read where another engine has the store open. Without its descriptor that read fails.
    const clock = join(dirname(path), 'clock');
    const [own = -1] = descriptorsOf(clock);
    const other = openSession(path);
    onTestFinished(() => other.close());
    closeSync(own);
    expect(writer.write([addition(aJob('a'))]).outcomes).toMatchObject([{ error: { code: 'store-unavailable' } }]);
    expect(writer.write([addition(aJob('b'))]).outcomes).toMatchObject([{ error: { code: 'store-unavailable' } }]);
    expect(openSync(clock, 'r+')).toBe(own);
    expect(writer.write([addition(aJob('c'))]).outcomes).toMatchObject([{ answer: [{ id: 'c' }] }]);
    expect(writer.write([request('find', ['a', 'b', 'c'])]).outcomes).toMatchObject([
      { answer: [null, null, { id: 'c' }] },
    ]);
  });
});

function descriptorsOf(path: string): readonly number[] {
  return readdirSync('/proc/self/fd')
    .filter((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`) === path;
      } catch {
        return false;
      }
    })
    .map(Number);
}
