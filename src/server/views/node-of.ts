/** Access to the node for routes about files. A server without a node has no files and refuses these routes. */
import { refuseRequest } from '../http/problem.ts';
import type { NodeServices, ServerContext } from './context.ts';

/** Returns the store's time as the node estimates it; without a node, the local time. */
export function storeNow({ node, now }: ServerContext): number {
  return node?.storeNow() ?? now();
}

export function nodeOf({ node }: ServerContext): NodeServices {
  if (node !== null) return node;
  throw refuseRequest('not-found', 'this server runs without a node and has no files of jobs');
}
