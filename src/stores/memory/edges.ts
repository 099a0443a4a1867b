/**
 * Dependency edges in maps. An edge belongs to its child: it is removed with the child. A parent is identified by its
 * insertion number, because its id may be reused once it is deleted.
 */
import type { Job } from '../../core/job/job.ts';
import type { Edge } from '../../core/ports/table.ts';

type Parent = Pick<Job, 'seq'>;
type Child = Pick<Job, 'id'>;

export class Edges {
  readonly #down = new Map<number, Map<string, Edge>>();
  readonly #up = new Map<string, Set<number>>();

  of(parent: Parent, child: Child): Edge | null {
    return this.#down.get(parent.seq)?.get(child.id) ?? null;
  }

  set(parent: Parent, child: Child, edge: Edge | null): void {
    if (edge === null) return this.#drop(parent.seq, child.id);
    const children = this.#down.get(parent.seq) ?? new Map<string, Edge>();
    const parents = this.#up.get(child.id) ?? new Set<number>();
    this.#down.set(parent.seq, children.set(child.id, edge));
    this.#up.set(child.id, parents.add(parent.seq));
  }

  /** Returns the ids of its children, of one kind of edge or of any. */
  children(parent: Parent, kind?: Edge): readonly string[] {
    const all = [...(this.#down.get(parent.seq) ?? [])];
    return all.filter(([, edge]) => kind === undefined || edge === kind).map(([id]) => id);
  }

  /** Returns the insertion numbers of its parents. */
  parents(child: Child, kind?: Edge): readonly number[] {
    const all = [...(this.#up.get(child.id) ?? [])];
    return kind === undefined ? all : all.filter((seq) => this.of({ seq }, child) === kind);
  }

  remove(child: Child): void {
    for (const seq of this.parents(child)) this.#drop(seq, child.id);
  }

  #drop(parent: number, child: string): void {
    prune(this.#down, parent, child);
    prune(this.#up, child, parent);
  }
}

function prune<A, B>(maps: Map<A, Map<B, unknown> | Set<B>>, outer: A, inner: B): void {
  const map = maps.get(outer);
  map?.delete(inner);
  if (map?.size === 0) maps.delete(outer);
}
