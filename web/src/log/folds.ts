/**
 * Foldable groups of a log: `::group::` to `::endgroup::`, and sections that start with `--- `, `+++ ` or
 * `~~~ ` and end at the next one. Pure.
 *
 * Lines are those of the log; rows are those shown: a folded group is one row.
 */

export interface GroupMarker {
  readonly line: number;
  readonly text: string;
  /** The time by which the line was written, if known. */
  readonly at: number | null;
}

export interface Group {
  /** The first line, which stays visible. */
  readonly line: number;
  readonly title: string;
  readonly end: number;
}

/** The markers as an expression for the node's search. */
export const GROUP_MARKERS = '^(::(group|endgroup)::|(---|\\+\\+\\+|~~~) )';
const MARKER = new RegExp(GROUP_MARKERS);

export function isGroupMarker(text: string): boolean {
  return MARKER.test(text);
}

export function groupsOf(markers: readonly Pick<GroupMarker, 'line' | 'text'>[], total: number): readonly Group[] {
  const groups: Group[] = [];
  const open: Pick<GroupMarker, 'line' | 'text'>[] = [];
  const end = (line: number): void => {
    const begun = open.pop();
    if (begun !== undefined && line > begun.line)
      groups.push({ line: begun.line, title: titleOf(begun.text), end: line });
  };
  for (const marker of markers) {
    const isSection = !marker.text.startsWith('::');
    if (marker.text.startsWith('::endgroup::')) end(marker.line);
    else if (isSection) while (open.length > 0) end(marker.line - 1);
    if (!marker.text.startsWith('::endgroup::')) open.push(marker);
  }
  while (open.length > 0) end(total);
  return groups.sort((a, b) => a.line - b.line);
}

export function titleOf(text: string): string {
  return text.replace(/^(::group::|(---|\+\+\+|~~~) )/, '');
}

export interface Folds {
  readonly rows: number;
  lineOf(row: number): number;
  rowOf(line: number): number;
}

/** `folded` holds the first lines of folded groups. */
export function foldsOf(groups: readonly Group[], folded: ReadonlySet<number>, total: number): Folds {
  const shut = outermostGroups(groups.filter(({ line }) => folded.has(line)));
  const hidden = shut.reduce((sum, group) => sum + group.end - group.line, 0);
  return {
    rows: total - hidden,
    lineOf(row) {
      let line = row;
      for (const group of shut) if (line > group.line) line += group.end - group.line;
      return line;
    },
    rowOf(line) {
      let gone = 0;
      for (const group of shut) if (line > group.line) gone += Math.min(line, group.end) - group.line;
      return line - gone;
    },
  };
}

function outermostGroups(groups: readonly Group[]): readonly Group[] {
  const found: Group[] = [];
  for (const group of groups) if (group.line > (found.at(-1)?.end ?? 0)) found.push(group);
  return found;
}
