/** Schedules over HTTP: set, get, pause, run now; and the problems of every invalid rule. */
import { describe, expect, it } from 'vitest';
import type { ScheduleView } from '../../src/wire/schedule-view.ts';
import { startTrial, type TrialServer } from './trial-server.ts';

const nightly = { cron: '30 3 * * *', zone: 'Europe/Berlin', queue: 'mail', data: { to: 'all' } };

const put = (server: TrialServer, name: string, body: object) => server.ask('PUT', `/api/schedules/${name}`, { body });
const post = (server: TrialServer, path: string, more: object = {}) =>
  server.ask('POST', `/api/schedules/${path}`, more);

describe('a schedule', () => {
  it('is created once, changed, listed with its next run times, and deleted', async () => {
    const server = await startTrial();
    expect((await put(server, 'night', nightly)).json).toMatchObject({
      outcome: 'created',
      words: 'every day at 03:30 (Europe/Berlin)',
      overlap: 'skip',
      made: 0,
      recent: [],
    });
    expect((await put(server, 'night', nightly)).json).toMatchObject({ outcome: 'unchanged' });
    expect((await put(server, 'night', { ...nightly, overlap: 'queue' })).json).toMatchObject({ outcome: 'changed' });
    const { schedules } = (await server.ask('GET', '/api/schedules')).json as { schedules: ScheduleView[] };
    expect(schedules).toHaveLength(1);
    expect(schedules[0]?.upcoming).toHaveLength(5);
    expect(schedules[0]?.nextAt).toBe(schedules[0]?.upcoming[0]);
    expect(await server.ask('DELETE', '/api/schedules/night')).toMatchObject({ status: 204 });
    expect(await server.ask('DELETE', '/api/schedules/night')).toMatchObject({ status: 404 });
    expect(await server.ask('GET', '/api/schedules/night')).toMatchObject({ status: 404 });
  });

  it('is paused with a note, resumed, and run now, once under an Idempotency-Key', async () => {
    const server = await startTrial();
    await put(server, 'night', nightly);
    expect((await post(server, 'night/pause', { body: { note: 'not now' } })).json).toMatchObject({
      isPaused: true,
      note: 'not now',
      nextAt: null,
    });
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = [await post(server, 'night/run', { headers }), await post(server, 'night/run', { headers })];
    expect(first).toMatchObject({ status: 201 });
    expect(again.json).toEqual(first.json);
    const { id } = first.json as { id: string };
    expect((await server.ask('GET', `/api/jobs/${id}`)).json).toMatchObject({
      queue: 'mail',
      data: { to: 'all' },
      tags: ['schedule:night'],
    });
    expect((await post(server, 'night/resume')).json).toMatchObject({
      isPaused: false,
      made: 1,
      recent: [{ id, outcome: 'made', state: 'waiting', isByHand: true }],
    });
    const byTag = await server.ask('GET', '/api/jobs?tag=schedule:night');
    expect(byTag.json).toMatchObject({ jobs: [{ id }] });
    const plain = await post(server, 'night/run');
    expect((plain.json as { id: string }).id).toMatch(/^night@\d{4}-.*Z~now$/);
    expect((await server.ask('GET', `/api/jobs/${encodeURIComponent((plain.json as { id: string }).id)}`)).status).toBe(
      200,
    );
    for (const verb of ['pause', 'resume', 'run'])
      expect(await post(server, `nobody/${verb}`, verb === 'pause' ? { body: {} } : {})).toMatchObject({ status: 404 });
  });

  it('has a timeline of its run times in the next day', async () => {
    const server = await startTrial();
    await put(server, 'hourly', { every: '1h', queue: 'mail' });
    await put(server, 'secondly', { every: '1s', queue: 'mail' });
    const { json } = await server.ask('GET', '/api/schedules/timelines?hours=24');
    const { timelines, from, until } = json as {
      from: number;
      until: number;
      timelines: { runs: number[]; isCut: boolean }[];
    };
    expect(until - from).toBe(86_400_000);
    expect(timelines.map(({ runs, isCut }) => [runs.length, isCut])).toEqual([
      [24, false],
      [1_500, true],
    ]);
  });

  it('has the average run time of its last jobs as the expected one', async () => {
    const server = await startTrial();
    await put(server, 'hourly', { every: '1h', queue: 'mail', overlap: 'allow' });
    const timeline = async () =>
      ((await server.ask('GET', '/api/schedules/timelines')).json as { timelines: { expectedMs: number | null }[] })
        .timelines[0];
    expect((await timeline())?.expectedMs).toBeNull();
    await post(server, 'hourly/run');
    const { json } = await server.ask('POST', '/api/claim', { body: { worker: 'w', queues: ['mail'] } });
    const [job] = (json as { jobs: { id: string; lease: { token: number } }[] }).jobs;
    await server.ask('POST', '/api/settle', { body: { id: job?.id, token: job?.lease.token, kind: 'complete' } });
    const [day] = await server.store.jobs.insight({ kind: 'statistics', queue: 'mail', by: 'tag' });
    expect(day).toMatchObject({ of: 'schedule:hourly', run: { count: 1 } });
    expect((await timeline())?.expectedMs).toBe(day?.run.mean);
  });

  it('is refused with every problem', async () => {
    const server = await startTrial();
    const wrong = await put(server, 'x', { cron: '0 0 30 2 *', zone: 'Nowhere', backlog: 0, queue: 'mail' });
    expect(wrong).toMatchObject({ status: 400, json: { code: 'bad-input' } });
    const { problems } = wrong.json as { problems: { path: string }[] };
    expect(problems.map(({ path }) => path)).toEqual(['zone', 'backlog', 'cron']);
    expect(await put(server, 'x', { every: '1h', until: '2001-01-01', queue: 'mail' })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('is in the past') as string },
    });
    expect((await server.ask('GET', '/api/schedules')).json).toEqual({ schedules: [] });
  });
});

it('a rule is explained without being stored', async () => {
  const server = await startTrial();
  const { json } = await post(server, 'explain', { body: { cron: '*/15 9-17 * * 1-5', zone: 'America/New_York' } });
  expect(json).toMatchObject({
    words: 'every 15 minutes from 09:00 to 17:59 on Monday to Friday (America/New_York)',
    upcoming: expect.arrayContaining([expect.any(Number)]) as number[],
  });
  expect(await post(server, 'explain', { body: { every: '10ms' } })).toMatchObject({ status: 400 });
});
