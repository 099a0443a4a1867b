/** Spans of a connection with telemetry: producer, consumer, retries, steps, isolated handlers; and none without it. */
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ConnectOptions, Longhaul } from '../../src/library/index.ts';
import { connect, fail, otel } from '../../src/library/index.ts';
import { loadOtel } from '../../src/telemetry/otel-api.ts';
import { recordSpans, type SeenSpan, seen, treeOf } from '../support/recorded-spans.ts';

const exporter = recordSpans();
beforeEach(() => exporter.reset());

const spans = (): readonly SeenSpan[] => exporter.getFinishedSpans().map(seen);
const byName = (name: string): readonly SeenSpan[] => spans().filter((each) => each.name === name);

async function open(options: ConnectOptions = { telemetry: otel() }): Promise<Longhaul> {
  const longhaul = await connect('memory:', options);
  onTestFinished(() => longhaul.close());
  return longhaul;
}

describe('a connection with telemetry', () => {
  it('records a producer span at the add, and the first attempt as its child', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<number, string | null>('mail');
    queue.work(async (job) => job.traceparent);
    const traceparent = await trace.getTracer('test').startActiveSpan('request', async (span) => {
      const answer = await queue.run(1, { id: 'letter' });
      span.end();
      return answer;
    });
    await expect.poll(() => byName('process mail').length).toBe(1);
    expect(treeOf(spans())).toEqual(['request internal', '  add mail producer', '    process mail consumer']);
    const [attempt] = byName('process mail');
    expect(traceparent).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
    expect(byName('add mail')[0]?.attributes).toEqual({
      'messaging.system': 'longhaul',
      'messaging.operation.name': 'add',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'mail',
      'messaging.message.id': 'letter',
    });
    expect(attempt?.attributes).toMatchObject({
      'messaging.system': 'longhaul',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'mail',
      'messaging.message.id': 'letter',
      'messaging.client.id': expect.any(String) as string,
      'longhaul.attempt': 1,
      'longhaul.outcome': 'complete',
    });
  });

  it('records a retry as a trace of its own that links to the add', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('flaky');
    await queue.configure({ backoff: { kind: 'fixed', delay: '1ms', jitter: 0 }, retries: 2 });
    queue.work(async ({ attempt }) => (attempt === 1 ? fail('no luck', { group: 'luck' }) : 'done'));
    await queue.run(1);
    await expect.poll(() => byName('process flaky').length).toBe(2);
    const [added] = byName('add flaky');
    const [first, second] = byName('process flaky');
    expect([first?.traceId, first?.parentSpanId, first?.links]).toEqual([added?.traceId, added?.spanId, []]);
    expect(first?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no luck' });
    expect(first?.attributes).toMatchObject({ 'error.type': 'luck', 'longhaul.outcome': 'fail' });
    expect(second?.traceId).not.toBe(added?.traceId);
    expect(second?.parentSpanId).toBeUndefined();
    expect(second?.links.map(({ context }) => context.spanId)).toEqual([added?.spanId]);
    expect(second?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('runs the handler with its span as the active one, so that its spans and steps nest', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('films');
    queue.work(async (job) => {
      await job.step('encode', async () => trace.getTracer('test').startSpan('frames').end());
      await expect(job.step('upload', () => Promise.reject(new Error('full')))).rejects.toThrow('full');
    });
    await queue.run(1);
    await expect.poll(() => byName('process films').length).toBe(1);
    const expected = ['step encode internal', '  frames internal', 'step upload internal'];
    expect(treeOf(spans())).toEqual([
      'add films producer',
      '  process films consumer',
      ...expected.map((line) => `    ${line}`),
    ]);
    expect(byName('step upload')[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'full' });
  });

  it('does not record attempts below the code that started the worker', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('apart');
    await queue.configure({ backoff: { kind: 'fixed', delay: '1ms', jitter: 0 }, retries: 1 });
    trace.getTracer('test').startActiveSpan('boot', (span) => {
      queue.work(async ({ attempt }) => (attempt === 1 ? fail('again') : null));
      span.end();
    });
    await queue.run(1);
    await expect.poll(() => byName('process apart').length).toBe(2);
    expect(treeOf(spans())).toEqual([
      'add apart producer',
      '  process apart consumer',
      'boot internal',
      'process apart consumer',
    ]);
  });

  it('records one span for many jobs of an add, and a refusal as an error', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('many');
    const added = await queue.addAll([1, 2, 3]);
    expect(byName('add many')[0]?.attributes).toMatchObject({ 'messaging.batch.message_count': 3 });
    const jobs = await longhaul.store.jobs.find(added.map(({ id }) => id));
    expect(new Set(jobs.map((job) => job?.policy.traceparent)).size).toBe(1);
    await queue.down();
    await expect(queue.add(4)).rejects.toThrow('down');
    expect(byName('add many')[1]?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('keeps a context that the producer gave, and adds no span for it', async () => {
    const longhaul = await open();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const queue = longhaul.queue<number, null>('given');
    const { id } = await queue.add(1, { traceparent });
    expect(spans()).toEqual([]);
    queue.work(async () => null);
    await longhaul.finished(id);
    await expect.poll(() => byName('process given').length).toBe(1);
    const [attempt] = spans();
    expect([attempt?.traceId, attempt?.parentSpanId]).toEqual([traceparent.slice(3, 35), traceparent.slice(36, 52)]);
    expect(attempt?.kind).toBe(SpanKind.CONSUMER);
    await expect(queue.add(1, { traceparent: 'mine' })).rejects.toThrow('traceparent: must be a W3C trace context');
  });

  it('passes the context to an isolated handler, whose spans belong to the trace', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<number, { traceparent: string; active: string | null }>('isolated');
    queue.work(new URL('../fixtures/handlers/traced.mjs', import.meta.url), { isolate: 'thread' });
    const { traceparent } = await queue.run(1);
    await expect.poll(() => byName('process isolated').length).toBe(1);
    const [attempt] = byName('process isolated');
    expect(traceparent).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
  });
});

describe('a connection without telemetry', () => {
  it('records nothing, adds nothing to a job, and runs steps as they are', async () => {
    const longhaul = await open({});
    const queue = longhaul.queue<number, string | null>('plain');
    queue.work(async (job) => job.step('one', async () => job.traceparent));
    const { id, finished } = await queue.add(1);
    expect(await finished()).toBeNull();
    expect((await longhaul.store.jobs.find([id]))[0]?.policy).toEqual({});
    expect(spans()).toEqual([]);
  });
});

it('A missing package is reported with the command that installs it.', async () => {
  const missing = () => Promise.reject(new Error('Cannot find package'));
  await expect(loadOtel(missing)).rejects.toMatchObject({
    code: 'bad-input',
    message: 'telemetry needs the package @opentelemetry/api: npm install @opentelemetry/api',
  });
  await expect(connect('memory:', { telemetry: true as never })).rejects.toThrow('telemetry: must be otel(), not true');
});
