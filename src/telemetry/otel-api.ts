/**
 * The package @opentelemetry/api, an optional peer: loaded when telemetry is used, and only then. Spans go to the SDK that
 * the process has registered; without one, the API records nothing.
 */
import type * as Otel from '@opentelemetry/api';
import { LonghaulError } from '../core/ports/errors.ts';

export type OtelApi = typeof Otel;

let loaded: OtelApi | null = null;

/** Loads the package. Rejects with `bad-input` and the install command if it is missing. */
export async function loadOtel(load: () => Promise<unknown> = () => import('@opentelemetry/api')): Promise<OtelApi> {
  try {
    loaded = (await load()) as OtelApi;
    return loaded;
  } catch (cause) {
    const message = 'telemetry needs the package @opentelemetry/api: npm install @opentelemetry/api';
    throw new LonghaulError('bad-input', message, { cause });
  }
}

/** Returns the package if this process uses telemetry, else null. */
export function otelIfLoaded(): OtelApi | null {
  return loaded;
}

const SCOPE = 'longhaul';

/** Returns the tracer at each use: an SDK may be registered later. */
export function tracerOf({ trace }: OtelApi): Otel.Tracer {
  return trace.getTracer(SCOPE);
}

/** Formats the context of a span as W3C Trace Context; undefined if no SDK records spans. */
export function traceparentOf({ isSpanContextValid }: OtelApi, span: Otel.Span): string | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Parses a W3C Trace Context, which was checked when the job was added. */
export function spanContextIn(traceparent: string): Otel.SpanContext {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
