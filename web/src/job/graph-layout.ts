/**
 * Where the jobs of a dependency graph are drawn: from left to right, each right of everything that it waits for, in the
 * order of those they hang together with. Pure.
 */
export interface Edge {
  readonly parent: string;
  readonly child: string;
}

export interface Spot {
  readonly column: number;
  readonly row: number;
}

export interface Layout {
  readonly spots: ReadonlyMap<string, Spot>;
  readonly columns: number;
  readonly rows: number;
}

export function layoutOf(ids: readonly string[], edges: readonly Edge[]): Layout {
  const columns = columnsOf(ids, edges);
  const count = Math.max(0, ...columns.values()) + 1;
  const spots = new Map<string, Spot>();
  for (let column = 0; column < count; column += 1) {
    const here = ids.filter((id) => columns.get(id) === column);
    const placed = here.map((id, place) => ({ id, wish: wishOf(id, edges, spots) ?? place, place }));
    placed.sort((a, b) => a.wish - b.wish || a.place - b.place);
    for (const [row, { id }] of placed.entries()) spots.set(id, { column, row });
  }
  const rows = Math.max(1, ...[...spots.values()].map(({ row }) => row + 1));
  return { spots, columns: count, rows };
}

/** The longest way from a job that waits for none. A store lets no circle arise; one would end by the count of rounds. */
function columnsOf(ids: readonly string[], edges: readonly Edge[]): ReadonlyMap<string, number> {
  const columns = new Map(ids.map((id) => [id, 0]));
  for (let round = 0, isMoved = true; isMoved && round < ids.length; round += 1) {
    isMoved = false;
    for (const { parent, child } of edges) {
      const least = (columns.get(parent) ?? 0) + 1;
      if ((columns.get(child) ?? 0) >= least) continue;
      columns.set(child, least);
      isMoved = true;
    }
  }
  return columns;
}

/** Beside those it waits for. */
function wishOf(id: string, edges: readonly Edge[], spots: ReadonlyMap<string, Spot>): number | null {
  const rows = edges.flatMap(({ parent, child }) => (child === id ? [spots.get(parent)?.row ?? 0] : []));
  return rows.length === 0 ? null : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}
