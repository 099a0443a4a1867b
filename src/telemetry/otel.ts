/**
 * Spans of OpenTelemetry for adds and attempts, with the names of the semantic conventions for messaging.
 *
 *     add ──▶ span "add <queue>" (producer) ──traceparent of the job──▶ span "process <queue>" (consumer)
 *
 * The first attempt is a child of the producer's span. A later attempt is a trace of its own with a link to that span: a
 * retry may run days later. User code runs with the span of its attempt as the active one.
 */
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { RunningJob } from '../core/job/job.ts';
import { inTrace, withTraceparent } from '../core/job/traceparent.ts';
import type { AddResult, NewJob } from '../core/ports/job-store.ts';
import type { EndedAttempt, Telemetry, TelemetrySource } from '../core/ports/telemetry.ts';
import { loadOtel, type OtelApi, spanContextIn, traceparentOf, tracerOf } from './otel-api.ts';

/**
 * Telemetry for `connect`: spans of OpenTelemetry for adds and attempts. Needs the package `@opentelemetry/api`, and an SDK
 * that the process has registered.
 *
 *     const longhaul = await connect('./longhaul', { telemetry: otel() });
 */
export function otel(): TelemetrySource {
  return { open: async () => openTelemetry(await loadOtel()) };
}

export function openTelemetry(api: OtelApi): Telemetry {
  return {
    add: (jobs, send) => add(api, jobs, send),
    attempt: (job, run) => attempt(api, job, run),
  };
}

const SYSTEM = { 'messaging.system': 'longhaul' };

async function add<Result>(
  api: OtelApi,
  jobs: readonly NewJob[],
  send: (jobs: readonly NewJob[]) => Promise<Result>,
): Promise<Result> {
  const own = jobs.filter(({ policy }) => policy?.traceparent === undefined);
  if (own.length === 0) return send(jobs);
  const { context, trace, SpanKind } = api;
  const name = spanName('add', own);
  const span = tracerOf(api).startSpan(name, { kind: SpanKind.PRODUCER, attributes: addAttributes(own) });
  const traceparent = traceparentOf(api, span);
  const traced = jobs.map((job) => withTraceparent(job, traceparent));
  return within(api, { span, context: trace.setSpan(context.active(), span) }, async () => {
    const result = await send(traced);
    showRefusal(api, span, result);
    return result;
  });
}

async function attempt<Ended extends EndedAttempt>(
  api: OtelApi,
  job: RunningJob,
  run: (job: RunningJob) => Promise<Ended>,
): Promise<Ended> {
  const { ROOT_CONTEXT, trace, SpanKind } = api;
  const given = job.policy.traceparent;
  const producer = given === undefined ? null : spanContextIn(given);
  const isChild = producer !== null && job.attempt === 1;
  // Never the active context: a worker runs jobs of any producer, whatever code started it.
  const parent = isChild ? trace.setSpanContext(ROOT_CONTEXT, producer) : ROOT_CONTEXT;
  const links = producer === null || isChild ? [] : [{ context: producer }];
  const options = { kind: SpanKind.CONSUMER, attributes: attemptAttributes(job), links };
  const span = tracerOf(api).startSpan(`process ${job.queue}`, options, parent);
  return within(api, { span, context: trace.setSpan(parent, span) }, async () => {
    const ended = await run(inTrace(job, traceparentOf(api, span) ?? given));
    showOutcome(api, span, ended);
    return ended;
  });
}

/** Runs code with a span as the active one, and ends the span with it. */
export async function within<Result>(
  { context: contexts, SpanStatusCode }: OtelApi,
  { span, context }: { readonly span: Span; readonly context: Context },
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await contexts.with(context, run);
  } catch (error) {
    const given = error instanceof Error ? error : new Error(String(error));
    span.recordException(given);
    span.setAttribute('error.type', given.name);
    span.setStatus({ code: SpanStatusCode.ERROR, message: given.message });
    throw error;
  } finally {
    span.end();
  }
}

function spanName(operation: string, jobs: readonly NewJob[]): string {
  const queue = queueOf(jobs);
  return queue === null ? operation : `${operation} ${queue}`;
}

/** Returns the one queue of the jobs; null if there are several. */
function queueOf(jobs: readonly NewJob[]): string | null {
  const queues = new Set(jobs.map(({ queue }) => queue));
  const [only = null] = queues;
  return queues.size === 1 ? only : null;
}

function addAttributes(jobs: readonly NewJob[]): Attributes {
  const queue = queueOf(jobs);
  const [job] = jobs;
  return {
    ...SYSTEM,
    'messaging.operation.name': 'add',
    'messaging.operation.type': 'send',
    ...(queue !== null && { 'messaging.destination.name': queue }),
    ...(jobs.length === 1 && job !== undefined && { 'messaging.message.id': job.id }),
    ...(jobs.length > 1 && { 'messaging.batch.message_count': jobs.length }),
  };
}

function attemptAttributes({ id, queue, attempt: number, lease }: RunningJob): Attributes {
  return {
    ...SYSTEM,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'messaging.message.id': id,
    'messaging.client.id': lease.worker,
    'longhaul.attempt': number,
  };
}

/** A refusal is an answer and no error of the caller, but the job was not added. */
function showRefusal({ SpanStatusCode }: OtelApi, span: Span, result: unknown): void {
  const refused = (Array.isArray(result) ? (result as readonly AddResult[]) : []).find((each) => !each.ok);
  if (refused === undefined || refused.ok) return;
  span.setAttribute('error.type', refused.refusal.code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: refused.refusal.message });
}

function showOutcome({ SpanStatusCode }: OtelApi, span: Span, { kind, failure, reason }: EndedAttempt): void {
  span.setAttribute('longhaul.outcome', kind);
  if (failure === undefined && kind !== 'crash') return;
  span.setAttribute('error.type', failure?.group ?? kind);
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure?.message ?? reason ?? kind });
}
