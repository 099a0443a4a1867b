/** Spans of this process, recorded in memory by the SDK of OpenTelemetry. */
import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll } from 'vitest';

/** Registers the SDK until the end of the test file. */
export function recordSpans(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  afterAll(() => {
    trace.disable();
    context.disable();
  });
  return exporter;
}

/** A span as tests compare it. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly context: { readonly spanId: string; readonly traceId: string } }[];
  readonly status: { readonly code: number; readonly message?: string };
}

export function seen(span: ReadableSpan): SeenSpan {
  const { name, kind, attributes, links, status, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId, parentSpanId: parentSpanContext?.spanId, name, kind, attributes, links, status };
}

/** Returns the spans of a tree as lines, children indented below their parents and ordered by name. */
export function treeOf(spans: readonly SeenSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): readonly string[] =>
    spans
      .filter(
        ({ parentSpanId }) =>
          (parentSpanId !== undefined && ids.has(parentSpanId) ? parentSpanId : undefined) === parent,
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name, kind, spanId }) => [
        `${'  '.repeat(depth)}${name} ${SpanKind[kind]?.toLowerCase()}`,
        ...below(spanId, depth + 1),
      ]);
  return below(undefined, 0);
}
