/** The machines that work for this store. */
import { fields, listOf } from '../../core/check.ts';
import { described } from '../../core/json-schema.ts';
import { listNodes } from '../../node/node-registry.ts';
import { json } from '../reply.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

const MOST_NODES = 500;
const node = described(
  {
    type: 'object',
    description:
      'id, host, pid, url, version, startedAt, seenAt, isDraining, queues (queue, problem, slots, running), slots, running, load, memory, disk',
  },
  (value: unknown) => value,
);

export const nodeRoutes: readonly Route[] = [
  route({
    name: 'nodes.list',
    method: 'GET',
    path: '/api/nodes',
    about: 'The nodes that share this store, each as it was seen within the last half minute.',
    role: 'read',
    answer: fields({ nodes: listOf(node, MOST_NODES) }),
    handle: async ({ context }) => json({ nodes: await listNodes(context.store) }),
  }),
];
