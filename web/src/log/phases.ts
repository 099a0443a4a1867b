/**
 * The phases of an attempt: the outermost groups of its log, with the times that the log's index knows; where the log has
 * not two of them, those that its status texts told. Pure.
 */
import type { Phase as Spoken } from '../../../src/core/job/phase.ts';
import type { Mark } from './folds.ts';
import { titleOf } from './folds.ts';

export interface Phase {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Where it begins in the log; null where only words told of it. */
  readonly line: number | null;
  readonly isGoingOn: boolean;
}

interface Begin {
  readonly name: string;
  readonly at: number;
  readonly line: number | null;
  /** When it was said to be over; null where the next one ends it. */
  readonly endAt: number | null;
}

export interface Attempted {
  readonly marks: readonly Mark[];
  readonly spoken: readonly Spoken[];
  /** When the attempt began; and when it ended, or now. */
  readonly since: number;
  readonly until: number;
  readonly isRunning: boolean;
}

export function phasesOf(attempted: Attempted): readonly Phase[] {
  const { spoken, until, isRunning } = attempted;
  const written = beginsIn(attempted);
  // One group within a long log is a detail of it, and tells nothing of where it stands.
  const begins =
    written.length > 1 || spoken.length === 0 ? written : spoken.map((each) => ({ ...each, line: null, endAt: null }));
  return begins.map(({ name, at, line, endAt }, place) => {
    const next = begins[place + 1]?.at;
    const to = endAt ?? next ?? Math.max(at, until);
    return { name, line, from: at, to, isGoingOn: isRunning && endAt === null && next === undefined };
  });
}

/** Groups within groups are no phases of their own. */
function beginsIn({ marks, since, until, isRunning }: Attempted): readonly Begin[] {
  const begins: Begin[] = [];
  let depth = 0;
  let last = since;
  for (const [place, { line, text, at }] of marks.entries()) {
    // An index that is a second behind the log does not know its last lines: those were written at its end.
    const unknown = place === 0 ? since : isRunning ? last : until;
    last = Math.max(last, at ?? unknown);
    const isEnd = text.startsWith('::endgroup::');
    const isGroup = text.startsWith('::group::');
    if (isEnd && depth === 1) endLast(begins, last);
    depth = isEnd ? Math.max(0, depth - 1) : isGroup ? depth + 1 : 0;
    if (depth <= 1 && !isEnd) begins.push({ name: titleOf(text), at: last, line, endAt: null });
  }
  return begins;
}

function endLast(begins: Begin[], endAt: number): void {
  const last = begins.pop();
  if (last !== undefined) begins.push({ ...last, endAt });
}
