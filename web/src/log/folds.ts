/**
 * Groups of a log that can be folded: `::group::` to `::endgroup::`, and sections that begin with `--- `, `+++ ` or
 * `~~~ ` and last to the next one. Pure.
 *
 * Rows are what is shown, lines are what is there: a folded group is one row.
 */

export interface Mark {
  readonly line: number;
  readonly text: string;
  /** By when it was written, where that is known. */
  readonly at: number | null;
}

export interface Group {
  /** The line that names it, which stays. */
  readonly line: number;
  readonly title: string;
  readonly end: number;
}

/** As the node's search takes it. */
export const MARKS = '^(::(group|endgroup)::|(---|\\+\\+\\+|~~~) )';
const MARK = new RegExp(MARKS);

export function isMark(text: string): boolean {
  return MARK.test(text);
}

export function groupsOf(marks: readonly Pick<Mark, 'line' | 'text'>[], total: number): readonly Group[] {
  const groups: Group[] = [];
  const open: Pick<Mark, 'line' | 'text'>[] = [];
  const end = (line: number): void => {
    const begun = open.pop();
    if (begun !== undefined && line > begun.line)
      groups.push({ line: begun.line, title: titleOf(begun.text), end: line });
  };
  for (const mark of marks) {
    const isSection = !mark.text.startsWith('::');
    if (mark.text.startsWith('::endgroup::')) end(mark.line);
    else if (isSection) while (open.length > 0) end(mark.line - 1);
    if (!mark.text.startsWith('::endgroup::')) open.push(mark);
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

/** `folded` are the lines of the groups that are shut. */
export function foldsOf(groups: readonly Group[], folded: ReadonlySet<number>, total: number): Folds {
  const shut = outermost(groups.filter(({ line }) => folded.has(line)));
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

function outermost(groups: readonly Group[]): readonly Group[] {
  const found: Group[] = [];
  for (const group of groups) if (group.line > (found.at(-1)?.end ?? 0)) found.push(group);
  return found;
}
