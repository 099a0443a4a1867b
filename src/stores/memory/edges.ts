/**
 * Who waits for whom, in maps. An edge belongs to its child: it goes when the child is removed. A parent is known by
 * its insertion number, since its id may be given to another job once it is gone.
 */
import type { Job } from '../../core/job.ts';
import type { Edge } from '../../core/table.ts';

type Known = Pick<Job, 'id' | 'seq'>;

export class Edges {
  readonly #down = new Map<number, Map<string, Edge>>();
  readonly #up = new Map<string, Map<number, string>>();

  of(parent: Known, child: Known): Edge | null {
    return this.#down.get(parent.seq)?.get(child.id) ?? null;
  }

  set(parent: Known, child: Known, edge: Edge | null): void {
    if (edge === null) return this.#drop(parent.seq, child.id);
    const children = this.#down.get(parent.seq) ?? new Map<string, Edge>();
    const parents = this.#up.get(child.id) ?? new Map<number, string>();
    this.#down.set(parent.seq, children.set(child.id, edge));
    this.#up.set(child.id, parents.set(parent.seq, parent.id));
  }

  /** Ids of its children, of one kind of edge or of any. */
  children(parent: Known, kind?: Edge): readonly string[] {
    const all = [...(this.#down.get(parent.seq) ?? [])];
    return all.filter(([, edge]) => kind === undefined || edge === kind).map(([id]) => id);
  }

  parents(child: Known, kind?: Edge): readonly Known[] {
    const all = [...(this.#up.get(child.id) ?? [])].map(([seq, id]) => ({ seq, id }));
    return kind === undefined ? all : all.filter((parent) => this.of(parent, child) === kind);
  }

  remove(child: Known): void {
    for (const { seq } of this.parents(child)) this.#drop(seq, child.id);
  }

  #drop(parent: number, child: string): void {
    prune(this.#down, parent, child);
    prune(this.#up, child, parent);
  }
}

function prune<A, B>(maps: Map<A, Map<B, unknown>>, outer: A, inner: B): void {
  const map = maps.get(outer);
  map?.delete(inner);
  if (map?.size === 0) maps.delete(outer);
}
