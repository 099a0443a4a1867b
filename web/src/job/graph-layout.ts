/**
 * Layout of a dependency graph: from left to right, each job right of all its parents, in the
 * order of its parents. Pure.
 */
export interface Edge {
  readonly parent: string;
  readonly child: string;
}

export interface Position {
  readonly column: number;
  readonly row: number;
}

export interface Layout {
  readonly positions: ReadonlyMap<string, Position>;
  readonly columns: number;
  readonly rows: number;
}

export function layoutOf(ids: readonly string[], edges: readonly Edge[]): Layout {
  const columns = columnsOf(ids, edges);
  const count = Math.max(0, ...columns.values()) + 1;
  const positions = new Map<string, Position>();
  for (let column = 0; column < count; column += 1) {
    const here = ids.filter((id) => columns.get(id) === column);
    const placed = here.map((id, place) => ({ id, preferred: preferredRow(id, edges, positions) ?? place, place }));
    placed.sort((a, b) => a.preferred - b.preferred || a.place - b.place);
    for (const [row, { id }] of placed.entries()) positions.set(id, { column, row });
  }
  const rows = Math.max(1, ...[...positions.values()].map(({ row }) => row + 1));
  return { positions, columns: count, rows };
}

/** The length of the longest path from a root. Stores refuse cycles; the number of rounds bounds one anyway. */
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

/** The mean row of its parents. */
function preferredRow(id: string, edges: readonly Edge[], positions: ReadonlyMap<string, Position>): number | null {
  const rows = edges.flatMap(({ parent, child }) => (child === id ? [positions.get(parent)?.row ?? 0] : []));
  return rows.length === 0 ? null : rows.reduce((sum, row) => sum + row, 0) / rows.length;
}
