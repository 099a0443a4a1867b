/**
 * Stale tokens: one outcome for each attempt is accepted, a repetition gets the same answer, and late settlements are
 * kept.
 */
import { expect, it } from 'vitest';
import { MAX_NOTE_LENGTH } from '../../src/core/job/history.ts';
import type { RunningJob } from '../../src/core/job/job.ts';
import type { Open } from './contract.ts';
import {
  complete,
  fail,
  LEASE_MS,
  type Outcome,
  outcomeOf,
  release,
  resend,
  retry,
  type Workbench,
} from './workbench.ts';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  complete: { kind: 'complete', result: '1' },
  'complete with a next queue': { kind: 'complete', next: { queue: 'next', delayMs: 0 } },
  fail: fail(),
  'fail with a retry left': fail({ delayMs: 5 }),
  retry: retry(),
  resend: resend(),
  release,
  forward: { kind: 'forward', address: 'http://there' },
  suspend: { kind: 'suspend', until: 1, event: 'approval', children: null },
};

/** Ways in which a job's lease ends while its holder still works. */
const LOSSES: Readonly<Record<string, (bench: Workbench, job: RunningJob) => Promise<unknown>>> = {
  'was claimed by another': async (bench) => {
    bench.pass(LEASE_MS);
    await bench.claimOne({ worker: 'other' });
  },
  'was returned by maintenance': (bench) => bench.loseLeases(),
  'was released': (bench, job) => bench.settle(job, release),
  'was restarted': (bench) => bench.jobs.requeue([{ id: 'a', steal: true }]),
  'was stolen': (bench) => bench.jobs.move([{ id: 'a', queue: 'q', steal: true }]),
  'was moved away': (bench) => bench.jobs.move([{ id: 'a', queue: 'other', steal: true }]),
  'lost its worker': (bench) => bench.jobs.endWorker({ id: 'w', kind: 'fail' }),
  'was held and requeued': async (bench) => {
    await bench.setQueue('q', { onLost: 'hold' });
    bench.pass(LEASE_MS);
    await bench.jobs.requeue([{ id: 'a' }]);
  },
  'was held and cancelled': async (bench) => {
    await bench.setQueue('q', { onLost: 'hold' });
    bench.pass(LEASE_MS);
    await bench.jobs.cancel([{ id: 'a' }]);
  },
};

export function staleTokenContract(open: Open): void {
  for (const [loss, happen] of Object.entries(LOSSES)) {
    it(`refuses heartbeat and completion of a job that ${loss}, and changes nothing`, async () => {
      const bench = await open();
      const job = await bench.running({ id: 'a', data: '1' });
      await happen(bench, job);
      const before = await bench.job('a');
      const beat = { leaseMs: 1, checkpoint: '9', data: '9', started: { pid: 9 }, progress: { percent: 9, text: '9' } };
      expect(outcomeOf(await bench.heartbeat(job, beat))).toBe('lease-lost');
      expect(outcomeOf(await bench.settle(job, { kind: 'complete', result: '9', data: '9' }))).toBe('lease-lost');
      expect(await bench.job('a')).toEqual(before);
    });
  }

  for (const [name, outcome] of Object.entries(OUTCOMES)) {
    it(`refuses a late ${name}, and keeps its content`, async () => {
      const bench = await open();
      const job = await bench.running({ id: 'a' });
      bench.pass(LEASE_MS);
      const holder = await bench.claimOne({ worker: 'other' });
      expect(outcomeOf(await bench.settle(job, outcome))).toBe('lease-lost');
      expect(await bench.job('a')).toEqual(holder);
      const last = (await bench.jobs.history('a')).at(-1);
      const notes = { complete: outcome.kind === 'complete' ? (outcome.result ?? '') : '', forward: 'http://there' };
      const more = {
        fail: 'it broke',
        retry: 'once more',
        resend: 'not yet',
        release: 'drain',
        crash: 'gone',
        suspend: 'approval',
      };
      expect(last).toEqual({
        at: bench.now,
        event: 'late',
        state: 'running',
        attempt: 2,
        token: job.lease.token,
        by: null,
        note: `${outcome.kind}: ${{ ...notes, ...more }[outcome.kind]}`,
      });
    });

    it(`answers a repeated ${name} the same again, and changes nothing`, async () => {
      const bench = await open();
      await bench.setQueue('q', { retries: name === 'fail' ? 0 : 9 });
      const job = await bench.running({ id: 'a' });
      const first = await bench.settle(job, outcome);
      const [kept, rows] = [await bench.job('a'), await bench.jobs.history('a')];
      bench.pass(10);
      expect(await bench.settle(job, outcome)).toEqual(first);
      expect(await bench.job('a')).toEqual(kept);
      expect(await bench.jobs.history('a')).toEqual(rows);
    });
  }

  it('answers a repetition the same again while another attempt runs', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { retries: 1 } });
    expect(await bench.settle(job, fail())).toEqual({ ok: true, state: 'waiting' });
    const second = await bench.claimOne({ worker: 'other' });
    expect(await bench.settle(job, fail())).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.settle(second, complete)).toEqual({ ok: true, state: 'done' });
    expect(await bench.settle(job, fail())).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.states('a')).toEqual(['done']);
  });

  it('refuses a settlement that differs from the first', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.settle(job, complete);
    for (const outcome of [fail(), retry(), resend(), release]) {
      expect(outcomeOf(await bench.settle(job, outcome))).toBe('lease-lost');
    }
    expect(await bench.states('a')).toEqual(['done']);
  });

  it('refuses a token that was never given, of a job in any state', async () => {
    const bench = await open();
    await bench.add({ id: 'waiting' }, { id: 'draft', draft: true });
    const job = await bench.running({ id: 'a', queue: 'other' });
    const future = { token: job.lease.token + 1_000 };
    for (const id of ['waiting', 'draft', 'a']) {
      expect(outcomeOf(await bench.settle({ id, lease: { ...job.lease, ...future } }, complete))).toBe('lease-lost');
      expect(outcomeOf(await bench.heartbeat({ id, lease: { ...job.lease, ...future } }))).toBe('lease-lost');
      expect(outcomeOf(await bench.heartbeat({ id, lease: { ...job.lease, token: 0 } }))).toBe('lease-lost');
    }
    expect(await bench.states('waiting', 'draft', 'a')).toEqual(['waiting', 'draft', 'running']);
  });

  it("refuses the token of another job's lease", async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const [a, b] = await bench.claim();
    expect(outcomeOf(await bench.settle({ id: 'a', lease: b!.lease }, complete))).toBe('lease-lost');
    expect(await bench.job('a')).toEqual(a);
  });

  it('keeps three late settlements of a job, each once', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS);
    const second = await bench.claimOne({ worker: 'other' });
    await bench.jobs.move([{ id: 'a', queue: 'q', steal: true }]);
    await bench.claimOne({ worker: 'third' });
    const completeWith = (holder: RunningJob, result: string) => bench.settle(holder, { kind: 'complete', result });
    for (const result of ['1', '1', '2']) expect(outcomeOf(await completeWith(job, result))).toBe('lease-lost');
    for (const result of ['1', '3', '4']) expect(outcomeOf(await completeWith(second, result))).toBe('lease-lost');
    const late = (await bench.jobs.history('a')).filter(({ event }) => event === 'late');
    expect(late.map(({ token, note }) => [token, note])).toEqual([
      [job.lease.token, 'complete: 1'],
      [job.lease.token, 'complete: 2'],
      [second.lease.token, 'complete: 1'],
    ]);
  });

  it('keeps four kilobytes of a late settlement, and treats settlements as equal that agree in them', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.jobs.move([{ id: 'a', queue: 'q', steal: true }]);
    const text = 'ä'.repeat(MAX_NOTE_LENGTH);
    const result = JSON.stringify(text);
    await bench.settle(job, { kind: 'complete', result });
    await bench.settle(job, { kind: 'complete', result: JSON.stringify(`${text}!`) });
    const late = (await bench.jobs.history('a')).filter(({ event }) => event === 'late');
    expect(late.map(({ note }) => note)).toEqual([`complete: ${result}`.slice(0, MAX_NOTE_LENGTH)]);
  });

  it('cuts every other note to the same length', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const message = 'x'.repeat(MAX_NOTE_LENGTH + 1);
    await bench.settle(job, fail({ failure: { group: 'g', message, detail: message } }));
    expect((await bench.jobs.history('a')).at(-1)?.note).toBe(message.slice(0, MAX_NOTE_LENGTH));
    expect((await bench.job('a')).failure).toEqual({ group: 'g', message, detail: message });
  });

  it('keeps a late settlement of a job that has ended', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS);
    await bench.settle(await bench.claimOne({ worker: 'other' }), complete);
    await bench.settle(job, { kind: 'complete', result: '"me too"' });
    expect(await bench.events('a')).toEqual(['added', 'claimed', 'lost', 'claimed', 'completed', 'late']);
    expect(await bench.states('a')).toEqual(['done']);
  });

  it('reports that a deleted job does not exist', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.settle(job, complete);
    await bench.jobs.delete(['a']);
    expect(outcomeOf(await bench.settle(job, complete))).toBe('not-found');
    expect(outcomeOf(await bench.heartbeat(job))).toBe('not-found');
    await bench.running({ id: 'a' });
    expect(outcomeOf(await bench.settle(job, complete))).toBe('lease-lost');
  });
}
