/**
 * The phases of an attempt: the outermost groups of its log with their times; if the log has
 * fewer than two, the phases reported in progress texts. Pure.
 */
import type { Phase as ReportedPhase } from '../../../src/core/job/phase.ts';
import type { GroupMarker } from './folds.ts';
import { titleOf } from './folds.ts';

export interface Phase {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** The first line in the log; null for a reported phase. */
  readonly line: number | null;
  readonly isActive: boolean;
}

interface Begin {
  readonly name: string;
  readonly at: number;
  readonly line: number | null;
  /** The explicit end; null if the next phase ends it. */
  readonly endAt: number | null;
}

export interface PhaseSource {
  readonly markers: readonly GroupMarker[];
  readonly reported: readonly ReportedPhase[];
  /** The start of the attempt, and its end or now. */
  readonly since: number;
  readonly until: number;
  readonly isRunning: boolean;
}

export function phasesOf(attempted: PhaseSource): readonly Phase[] {
  const { reported, until, isRunning } = attempted;
  const written = beginsIn(attempted);
  // A single group in a long log is a detail and does not describe the phases.
  const begins =
    written.length > 1 || reported.length === 0
      ? written
      : reported.map((each) => ({ ...each, line: null, endAt: null }));
  return begins.map(({ name, at, line, endAt }, place) => {
    const next = begins[place + 1]?.at;
    const to = endAt ?? next ?? Math.max(at, until);
    return { name, line, from: at, to, isActive: isRunning && endAt === null && next === undefined };
  });
}

/** Returns the starts of outermost groups; nested groups are not phases. */
function beginsIn({ markers, since, until, isRunning }: PhaseSource): readonly Begin[] {
  const begins: Begin[] = [];
  let depth = 0;
  let last = since;
  for (const [place, { line, text, at }] of markers.entries()) {
    // The time index lags the log by up to a second: lines without a time were written at the end.
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
