/** How the node is, for those who watch over it: whether it can take work, and its figures. */
import { METRICS_TYPE, metricsText } from '../../node/metrics-text.ts';
import type { Reply } from '../http/reply.ts';
import { text } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';

export const healthRoutes: readonly Route[] = [
  route({
    name: 'ready',
    method: 'GET',
    path: '/readyz',
    about:
      'Whether work can be taken: the store answers, the disk has room, the runner lives. 503 with the reasons if not.',
    role: 'read',
    answer: 'text',
    handle: (call) => ready(call),
  }),
  route({
    name: 'metrics',
    method: 'GET',
    path: '/metrics',
    about: 'The figures of the node, as Prometheus reads them.',
    role: 'read',
    answer: 'text',
    handle: async ({ context }) => text(metricsText((await context.health?.metrics()) ?? []), METRICS_TYPE),
  }),
];

const UNREADY = 503;

async function ready({ context }: Pick<Call, 'context'>): Promise<Reply> {
  const { isReady, problems } = (await context.health?.readiness()) ?? { isReady: true, problems: [] };
  if (isReady) return text('ready\n');
  return { ...text(`${problems.join('\n')}\n`), status: UNREADY };
}
