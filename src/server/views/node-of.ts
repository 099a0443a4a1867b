/** The node beside the server, for routes that speak of files. Where none runs there are no files, and that is said. */

import { refuseRequest } from '../http/problem.ts';
import type { NodeFace, ServerContext } from './context.ts';

/** The store's time, as far as the node knows it; without one, this machine's. */
export function storeNow({ node, now }: ServerContext): number {
  return node?.storeNow() ?? now();
}

export function nodeOf({ node }: ServerContext): NodeFace {
  if (node !== null) return node;
  throw refuseRequest('not-found', 'no node runs beside this server, so it has no files of jobs');
}
