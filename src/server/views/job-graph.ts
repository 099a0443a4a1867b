/** The dependency graph of a job: its parents and dependents, direct and indirect, nearest first, up to a limit. */
import type { Job } from '../../core/job/job.ts';
import type { ServerContext } from './context.ts';
import { findJob, viewsOf } from './job-views.ts';

interface Edge {
  readonly parent: string;
  readonly child: string;
}

interface Walk {
  readonly jobs: Map<string, Job>;
  readonly edges: Edge[];
  readonly limit: number;
  isWhole: boolean;
}

export async function jobGraph(context: ServerContext, id: string, limit: number) {
  const job = await findJob(context, id);
  const walk: Walk = { jobs: new Map([[id, job]]), edges: [], limit, isWhole: true };
  await spread(context, walk, 'child', [job]);
  await spread(context, walk, 'parent', [job]);
  const views = await viewsOf(context, [...walk.jobs.values()]);
  const nodes = views.map(({ id, queue, name, state, label, reason }) => ({ id, queue, name, state, label, reason }));
  return {
    nodes,
    edges: walk.edges.filter(({ parent, child }) => walk.jobs.has(parent) && walk.jobs.has(child)),
    isWhole: walk.isWhole,
  };
}

/** Walks to parents (`child`: jobs of which this one is the child) or to dependents (`parent`). */
async function spread({ store }: ServerContext, walk: Walk, side: 'child' | 'parent', from: Job[]): Promise<void> {
  for (const job of from) {
    const page = await store.jobs.list({ [side]: job.id, order: 'newest', limit: walk.limit });
    if (page.next !== null) walk.isWhole = false;
    for (const other of page.jobs) {
      const isKnown = walk.jobs.has(other.id);
      if (!isKnown && walk.jobs.size >= walk.limit) {
        walk.isWhole = false;
        continue;
      }
      walk.edges.push(side === 'child' ? { parent: other.id, child: job.id } : { parent: job.id, child: other.id });
      if (isKnown) continue;
      walk.jobs.set(other.id, other);
      from.push(other);
    }
  }
}
