/** Liveness, readiness and metrics of the node. */
import { METRICS_TYPE } from '../../metrics/metrics-text.ts';
import type { Reply } from '../http/reply.ts';
import { text } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';

export const healthRoutes: readonly Route[] = [
  route({
    name: 'health',
    method: 'GET',
    path: '/healthz',
    about: 'Returns ok if the server answers.',
    role: 'open',
    answer: 'text',
    handle: () => text('ok\n'),
  }),
  route({
    name: 'ready',
    method: 'GET',
    path: '/readyz',
    about: 'Returns whether the node can take work: the store answers, the disk has space, the runner is up. Else 503.',
    role: 'read',
    answer: 'text',
    handle: (call) => ready(call),
  }),
  route({
    name: 'metrics',
    method: 'GET',
    path: '/metrics',
    about: 'Returns the metrics of the node in Prometheus format.',
    role: 'read',
    answer: 'text',
    handle: async ({ context }) => text((await context.health?.metrics()) ?? '', METRICS_TYPE),
  }),
];

const UNREADY = 503;

async function ready({ context }: Pick<Call, 'context'>): Promise<Reply> {
  const { isReady, problems } = (await context.health?.readiness()) ?? { isReady: true, problems: [] };
  if (isReady) return text('ready\n');
  return { ...text(`${problems.join('\n')}\n`), status: UNREADY };
}
