/**
 * Spans within an attempt: a step of a handler, and the context of an isolated handler, whose attempt has its span in the
 * process of the worker.
 */
import { within } from './otel.ts';
import { loadOtel, type OtelApi, otelIfLoaded, spanContextIn, tracerOf } from './otel-api.ts';

/** Runs a step within a span, a child of the active one; without telemetry or an active span it only runs the step. */
export function tracedStep<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  const api = otelIfLoaded();
  if (api === null || api.trace.getActiveSpan() === undefined) return run();
  const span = tracerOf(api).startSpan(`step ${name}`, { attributes: { 'longhaul.step': name } });
  return within(api, { span, context: api.trace.setSpan(api.context.active(), span) }, run);
}

/** Runs code of an isolated handler in the context of its attempt. Without the package, it only runs the code. */
export async function inContextOf<Result>(
  traceparent: string | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  const api = traceparent === undefined ? null : await otelOrNull();
  if (api === null || traceparent === undefined) return run();
  const { context, trace, ROOT_CONTEXT } = api;
  return context.with(trace.setSpanContext(ROOT_CONTEXT, spanContextIn(traceparent)), run);
}

let loading: Promise<OtelApi | null> | null = null;

function otelOrNull(): Promise<OtelApi | null> {
  loading ??= loadOtel().catch(() => null);
  return loading;
}
