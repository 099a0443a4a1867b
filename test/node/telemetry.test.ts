/**
 * The trace of one job over add, node, script, relay and webhook is one tree: two nodes as processes, with an SDK that
 * writes their spans to a file, and a producer in this process.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, otel } from '../../src/library/index.ts';
import { eventually } from '../processes/runner-workbench.ts';
import { cli } from '../processes/scripts-workbench.ts';
import { ServedNode } from '../relay/serve-bench.ts';
import { itIf } from '../support/it-if.ts';
import { recordSpans, type SeenSpan, seen, treeOf } from '../support/recorded-spans.ts';
import { isFullSize } from '../support/test-size.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const SDK = pathToFileURL(join(import.meta.dirname, '../fixtures/otel-to-file.mjs')).href;
const LONG_MS = 60_000;
const exporter = recordSpans();

interface TracedNode {
  readonly node: ServedNode;
  readonly url: string;
  spans(): readonly SeenSpan[];
}

async function aNode(scripts: Readonly<Record<string, string>>, telemetry = true): Promise<TracedNode> {
  const file = join(import.meta.dirname, `../../node_modules/.cache/spans-${process.pid}-${Math.random()}`);
  const prefix = ['env', `TEST_SPANS=${file}`, ...(telemetry ? [`NODE_OPTIONS=--import=${SDK}`] : [])];
  const hooks = { secrets: { default: [SECRET] } };
  const node = new ServedNode({ allowDestinations: ['127.0.0.1'], hooks, telemetry }, prefix);
  onTestFinished(() => node.close());
  for (const [name, text] of Object.entries(scripts)) {
    const path = join(node.home, 'queues', name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  }
  await node.start();
  return {
    node,
    url: `http://127.0.0.1:${node.port}/`,
    spans: () =>
      (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []).map((line) => JSON.parse(line)),
  };
}

describe('the trace of a job', () => {
  it('is one tree from the add through a node, a script, a relay and a second node to the webhook', async () => {
    const receiver = await WebhookReceiver.open(SECRET);
    const second = await aNode({ second: 'echo "$TRACEPARENT" > "$LONGHAUL_OUT/trace"' });
    // The script adds a job for the other node, as any program can that finds TRACEPARENT in its environment.
    const add = `"${process.execPath}" "${cli}" add --home "$HOME_OF_NODE" "${second.url}q/second" '{"hello":1}'`;
    const first = await aNode({ first: `HOME_OF_NODE="$(dirname "$0")/.."; ${add}` });
    const longhaul = await connect(`unix:${join(first.node.home, 'node.sock')}`, { telemetry: otel() });
    await trace.getTracer('test').startActiveSpan('request', async (span) => {
      await longhaul.queue('first').add(1, { hooks: [{ url: `${receiver.url}/ok/x`, on: ['done'] }] });
      span.end();
    });
    const all = (): readonly SeenSpan[] => [
      ...exporter.getFinishedSpans().map(seen),
      ...first.spans(),
      ...second.spans(),
    ];
    await eventually(all, (spans) => spans.length >= 6 && receiver.calls.length > 0, LONG_MS).catch(() => undefined);
    await longhaul.close();
    expect(treeOf(all())).toEqual([
      'request internal',
      '  add first producer',
      '    process first consumer',
      '      process relay consumer',
      '        process second consumer',
      '    process hooks consumer',
    ]);
    expect(new Set(all().map(({ traceId }) => traceId)).size).toBe(1);
    const [hook] = all().filter(({ name }) => name === 'process hooks');
    expect(receiver.calls[0]?.headers['traceparent']).toBe(`00-${hook?.traceId}-${hook?.spanId}-01`);
  });

  itIf(isFullSize)(
    'goes through a node without telemetry: header of the add, environment of the script, header of the webhook',
    async () => {
      const receiver = await WebhookReceiver.open(SECRET);
      const { node, url } = await aNode({ plain: 'echo "trace: $TRACEPARENT"' }, false);
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const add = (id: string, header: string) =>
        fetch(new URL('api/jobs', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', traceparent: header },
          body: JSON.stringify({ id, queue: 'plain', hooks: [{ url: `${receiver.url}/ok/${id}`, on: ['done'] }] }),
        });
      for (const [id, header] of [
        ['traced', traceparent],
        ['bad', 'not a context'],
      ] as const)
        expect((await add(id, header)).status).toBe(201);
      await eventually(
        () => receiver.calls.length,
        (count) => count === 2,
        LONG_MS,
      );
      const log = (id: string): string => readFileSync(join(node.home, 'jobs', id, 'attempts/1/log'), 'utf8').trim();
      expect([log('traced'), log('bad')]).toEqual([`trace: ${traceparent}`, 'trace:']);
      const header = (id: string) => receiver.calls.find(({ path }) => path === `/ok/${id}`)?.headers['traceparent'];
      expect([header('traced'), header('bad')]).toEqual([traceparent, undefined]);
    },
  );
});
