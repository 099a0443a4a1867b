/** Seeded bugs of spans and metrics. */
const spans = ['test/library/telemetry.test.ts'];
const metrics = ['test/library/metrics.test.ts'];
const monitoring = ['test/node/metrics.test.ts'];

export const telemetry = [
  {
    name: 'telemetry: a retry is a child of the add',
    file: 'src/telemetry/otel.ts',
    find: 'producer !== null && job.attempt === 1',
    replace: 'producer !== null',
    suites: spans,
  },
  {
    name: 'telemetry: an attempt is a child of the code that started the worker',
    file: 'src/telemetry/otel.ts',
    find: 'isChild ? trace.setSpanContext(ROOT_CONTEXT, producer) : ROOT_CONTEXT',
    replace: 'isChild ? trace.setSpanContext(ROOT_CONTEXT, producer) : api.context.active()',
    suites: spans,
  },
  {
    name: 'telemetry: the context of the producer is replaced',
    file: 'src/core/job/traceparent.ts',
    find: ' || job.policy?.traceparent !== undefined',
    replace: '',
    suites: ['test/library/telemetry.test.ts', 'src/core/job/traceparent.test.ts'],
  },
  {
    name: 'telemetry: the handler runs outside of the span of its attempt',
    file: 'src/telemetry/otel.ts',
    find: 'contexts.with(context, run)',
    replace: 'run()',
    suites: spans,
  },
  {
    name: 'metrics: failure groups are not bounded',
    file: 'src/metrics/worker-meter.ts',
    find: 'counted.has(name) || counted.size < max ? name : OTHERS',
    replace: 'name',
    suites: metrics,
  },
  {
    name: 'metrics: buckets of a histogram are not cumulative',
    file: 'src/metrics/duration-histogram.ts',
    find: 'count += each;',
    replace: 'count = each;',
    suites: metrics,
  },
  {
    name: 'metrics: a lost lease is not counted',
    file: 'src/metrics/worker-meter.ts',
    find: "stopReason === 'lease-lost' || answer?.ok === false",
    replace: 'false',
    suites: metrics,
  },
  {
    name: 'metrics: a family of the catalogue is missing in the output of a node',
    file: 'src/node/node-metrics.ts',
    find: "  registry.register('workers', () => workers.families());\n",
    replace: '',
    suites: monitoring,
  },
];
