/** Seeded bugs of spans, metrics and the mounted web UI. */
const spans = ['test/library/telemetry.test.ts'];
const metrics = ['test/library/metrics.test.ts'];
const mounting = ['src/mount/create-handler.test.ts'];

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
    name: 'metrics: jobs of a queue without a worker count as ready',
    file: 'src/metrics/waiting-jobs.ts',
    find: "return isWorked ? 'ready' : 'no-worker'",
    replace: "return isWorked ? 'ready' : 'ready'",
    suites: metrics,
  },
  {
    name: 'mount: a caller without a role gets in',
    file: 'src/mount/mount-guard.ts',
    find: 'if (!allows(principal.role, route.role))',
    replace: 'if (false)',
    suites: mounting,
  },
  {
    name: 'mount: a request of another site changes something',
    file: 'src/mount/mount-guard.ts',
    find: '      checkSite(request);\n',
    replace: '',
    suites: mounting,
  },
];
