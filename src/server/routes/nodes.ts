/** The nodes of the store: list, drain, resume and forget. */
import { fields, listOf, object, text } from '../../core/input/check.ts';
import { described } from '../../core/input/json-schema.ts';
import { forgetNode, listNodes, orderDrain, pickNode } from '../../node/cluster/list-nodes.ts';
import { MAX_NODES } from '../../node/cluster/node-entry.ts';
import type { NodeView } from '../../wire/node-view.ts';
import { mustBeOk } from '../http/one-result.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';
import { storeNow } from '../views/node-of.ts';

const node = described(
  {
    type: 'object',
    description:
      'id, name, state (up, draining, stopped, gone), goneAt, held (ids of jobs), epoch, host, pid, url, addresses, version, startedAt, seenAt, isDraining, clockSkewMs, queues (queue, problem, slots, running), slots, running, load, memory, disk, holds (jobs, attachments)',
  },
  (value: unknown) => value,
);
const params = { id: text({ max: 256 }) };
const emptyBody = object({});
const nodeName = fields({ id: text({ max: 64 }), name: text({ max: 256 }) });

export const nodeRoutes: readonly Route[] = [
  route({
    name: 'nodes.list',
    method: 'GET',
    path: '/api/nodes',
    about: 'Lists the nodes of the store, live nodes first; a node that is gone has the jobs and files it held.',
    role: 'read',
    answer: fields({ nodes: listOf(node, MAX_NODES) }),
    handle: async ({ context }) => json({ nodes: await listNodes(context.store, storeNow(context)) }),
  }),
  route({
    name: 'nodes.drain',
    method: 'POST',
    path: '/api/nodes/{id}/drain',
    about: 'Drains a node, by id or name: it starts no more jobs, and its running jobs end.',
    role: 'operate',
    params,
    body: emptyBody,
    answer: nodeName,
    handle: ({ params: { id }, context }) => order(context, id, { isDraining: true }),
  }),
  route({
    name: 'nodes.resume',
    method: 'POST',
    path: '/api/nodes/{id}/resume',
    about: 'Resumes a draining node.',
    role: 'operate',
    params,
    body: emptyBody,
    answer: nodeName,
    handle: ({ params: { id }, context }) => order(context, id, { isDraining: false }),
  }),
  route({
    name: 'nodes.forget',
    method: 'DELETE',
    path: '/api/nodes/{id}',
    about: 'Forgets a node that will not come back: files that only it held are lost.',
    role: 'admin',
    params,
    answer: nodeName,
    handle: async ({ params: { id }, context }) => {
      const found = await find(context, id);
      mustBeOk([await forgetNode(context.store, found)]);
      return json({ id: found.id, name: found.name });
    },
  }),
];

async function order(context: ServerContext, idOrName: string, wanted: { readonly isDraining: boolean }) {
  const { id, name } = await find(context, idOrName);
  await orderDrain(context.store, id, wanted);
  return json({ id, name });
}

async function find(context: ServerContext, idOrName: string): Promise<NodeView> {
  return mustBeOk([pickNode(await listNodes(context.store, storeNow(context)), idOrName)]).node;
}
