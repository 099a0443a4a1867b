/** Groups of calls in one transaction, on a real file. */
import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { ClaimResult, NewJob, QueueCounts } from '../../../core/ports/job-store.ts';
import { WaitingClaims } from '../waiting-claims.ts';
import { Ballast } from './ballast.ts';
import type { EngineClient } from './engine-clients.ts';
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
    hasListeners: () => false,
    onEvents: () => undefined,
    onFailed: () => undefined,
  });
  opened.register();
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

/** Writes in as many groups as a slow machine may need. */
function writeAll(writer: GroupWriter, requests: readonly Request[]): Omit<Group, 'isPending'> {
  const { results, tried, events } = writer.write(requests);
  if (results.length === requests.length) return { results, tried, events };
  const rest = writeAll(writer, requests.slice(results.length));
  return { results: [...results, ...rest.results], tried, events: [...events, ...rest.events] };
}

const request = (name: RequestName, argument: unknown): Request => ({ id: 1, name, argument, now: undefined });
const addition = (...jobs: readonly NewJob[]): Request => request('add', jobs);
const aJob = (id: string, changes: Partial<NewJob> = {}): NewJob => ({ id, queue: 'mail', data: '{}', ...changes });
/** Its data is not a text: SQLite cannot bind it. */
const unwritable = aJob('unwritable', { data: Symbol('data') as never });

function countOf(writer: GroupWriter): QueueCounts | undefined {
  const [result] = writer.write([request('count', undefined)]).results;
  return ((result as { answer: readonly QueueCounts[] }).answer ?? [])[0];
}

describe('a group of calls', () => {
  it('has an answer for each call, and the events of all', async () => {
    const { writer } = await openWriter();
    const { results, events } = writeAll(writer, [addition(aJob('a')), addition(aJob('b'), aJob('c'))]);
    expect(results).toMatchObject([{ answer: [{ id: 'a' }] }, { answer: [{ id: 'b' }, { id: 'c' }] }]);
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('commits the other calls when one throws, and nothing of that one', async () => {
    const { writer } = await openWriter();
    const { results, events } = writeAll(writer, [
      addition(aJob('a')),
      addition(aJob('b'), unwritable),
      addition(aJob('c')),
    ]);
    expect(results).toMatchObject([{ answer: [{ id: 'a' }] }, { error: {} }, { answer: [{ id: 'c' }] }]);
    expect(events.map(({ id }) => id)).toEqual(['a', 'c']);
    expect(countOf(writer)).toMatchObject({ waiting: 2 });
    expect(writer.write([request('find', ['a', 'b', 'c'])]).results).toMatchObject([
      { answer: [{ id: 'a' }, null, { id: 'c' }] },
    ]);
  });

  it('adds a job once when a later call of the group throws before it was written', async () => {
    const { writer } = await openWriter();
    const unnameable = aJob('b', { name: Symbol('name') as never });
    const { results } = writeAll(writer, [addition(aJob('a')), addition(unnameable)]);
    expect(results).toMatchObject([{ answer: [{ id: 'a', outcome: 'added' }] }, { error: {} }]);
    expect(countOf(writer)).toMatchObject({ waiting: 1 });
  });

  it('drops the settings of a call that throws', async () => {
    const { writer } = await openWriter();
    const down = request('records.put', { kind: 'queue', key: 'mail', value: '{"state":"down"}' });
    const broken = request('records.put', { kind: 'queue', key: 'mail', value: Symbol('value') });
    writeAll(writer, [down, broken]);
    expect(writer.write([addition(aJob('a'))]).results).toMatchObject([{ answer: [{ ok: false }] }]);
  });

  it('ends at its time limit, and leaves the rest for the next group', async () => {
    const { writer } = await openWriter();
    const many = (name: string) => addition(...Array.from({ length: 10_000 }, (_, each) => aJob(`${name}${each}`)));
    const { results } = writer.write([many('a'), many('b')]);
    expect(results).toHaveLength(1);
    expect(countOf(writer)).toMatchObject({ waiting: 10_000 });
  });

  it('rejects new jobs while the ballast is missing, and accepts all other calls', async () => {
    const { writer, ballast } = await openWriter();
    writer.write([addition(aJob('a'))]);
    ballast.release();
    expect(writeAll(writer, [addition(aJob('b')), request('cancel', [{ id: 'a' }])]).results).toMatchObject([
      { error: { code: 'store-full' } },
      { answer: [{ outcome: 'cancelled' }] },
    ]);
  });

  it('looks for the ballast with each add unless it has the file for itself', async () => {
    const { writer, path } = await openWriter();
    const ballast = join(dirname(path), 'ballast');
    const addWithoutBallast = (id: string): unknown => {
      rmSync(ballast, { force: true });
      return writer.write([addition(aJob(id))]).results[0];
    };
    // It is missing, and was written a moment ago.
    writer.write([addition(aJob('a'))]);
    expect(addWithoutBallast('b')).toMatchObject({ answer: [{ id: 'b' }] });
    const other = openSession(path);
    onTestFinished(() => other.close());
    // The transaction in which this engine finds the other one.
    writer.write([request('cancel', [])]);
    expect(addWithoutBallast('c')).toMatchObject({ error: { code: 'store-full' } });
  });

  it('does not call a disk full that fails to write the ballast, and tries again with the next job', async () => {
    const { writer, path } = await openWriter();
    // A folder in its place: the file cannot be written, although there is space.
    const draft = join(dirname(path), 'ballast.new');
    mkdirSync(draft);
    expect(writer.write([addition(aJob('a'))]).results).toMatchObject([{ error: { code: 'store-unavailable' } }]);
    rmSync(draft, { recursive: true });
    expect(writer.write([addition(aJob('b'))]).results).toMatchObject([{ answer: [{ id: 'b' }] }]);
  });

  it('leaves no transaction open when it cannot begin: the next group is written', async () => {
    const { writer, path } = await openWriter();
    // The clock file is read while another engine has the store open. Without its descriptor the read fails.
    const clock = join(dirname(path), 'clock');
    const [own = -1] = descriptorsOf(clock);
    const other = openSession(path);
    onTestFinished(() => other.close());
    closeSync(own);
    expect(writer.write([addition(aJob('a'))]).results).toMatchObject([{ error: { code: 'store-unavailable' } }]);
    expect(writer.write([addition(aJob('b'))]).results).toMatchObject([{ error: { code: 'store-unavailable' } }]);
    expect(openSync(clock, 'r+')).toBe(own);
    expect(writer.write([addition(aJob('c'))]).results).toMatchObject([{ answer: [{ id: 'c' }] }]);
    expect(writer.write([request('find', ['a', 'b', 'c'])]).results).toMatchObject([
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

/** Runs job `a`, and performs its settlement with a claim of another queue and with a waiting claim that gets `b`. */
async function settleWithWaitingClaim(b: Partial<NewJob>): Promise<Group> {
  const { writer } = await openWriter();
  const claim = (id: number, queue: string): Request => {
    const argument = { worker: 'w', queues: [queue], limit: 1, requestId: String(id) };
    return { id, name: 'claim', argument, now: undefined, sync: 'later', waitMs: 60_000 };
  };
  const [, first] = writer.write([addition(aJob('a')), claim(1, 'mail')]).results;
  const [job] = (first as { answer: ClaimResult }).answer.jobs;
  const waiting = new WaitingClaims({ answer: () => undefined, schedule: () => undefined });
  onTestFinished(() => waiting.forget());
  const call = { client: {} as EngineClient, request: claim(2, 'later') };
  const [empty] = writer.write([call.request]).results;
  waiting.hold(call, empty as never, []);
  writer.write([addition(aJob('b', { queue: 'later', ...b }))]);
  waiting.mark([{ type: 'added', id: 'b', queue: 'later', state: 'waiting' }]);
  const settlement = request('settle', [{ id: 'a', token: job?.lease?.token, kind: 'complete' }]);
  const group = writer.write([settlement, claim(3, 'other')], waiting);
  expect(group.tried).toMatchObject([{ result: { answer: { jobs: [{ id: 'b' }] } } }]);
  return group;
}

describe('a waiting claim in the transaction of a settlement', () => {
  it('may be answered before the sync', async () => {
    expect(await settleWithWaitingClaim({})).toMatchObject({ isPending: true });
  });

  it('is answered after the sync if its job holds a slot of a throttle', async () => {
    expect(await settleWithWaitingClaim({ policy: { throttles: ['one'] } })).toMatchObject({ isPending: false });
  });
});
