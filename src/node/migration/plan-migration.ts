/**
 * What two stores that stand somehow in a move allow: begin one, go on with one, bring what was left behind, or nothing.
 * Decides alone; move-store.ts acts. Invariant: no answer lets a job be alive in both stores.
 */
import type { Standing } from '../../core/ports/migration.ts';

export interface Ends {
  readonly source: Standing | null;
  readonly target: Standing | null;
  /** As people are shown them. */
  readonly from: string;
  readonly to: string;
  readonly isTargetEmpty: boolean;
}

export type Plan =
  /** `begin` empties the target first: it holds nothing that is alive. */
  | { readonly kind: 'begin' | 'resume' | 'rest'; readonly move: string | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'refuse'; readonly why: string };

export function planMove(ends: Ends): Plan {
  const { source, target, from, to } = ends;
  const importing = [source, target].find((each) => each?.role === 'import');
  if (importing !== undefined && importing !== null)
    return refuse(`jobs are being imported from ${importing.other}: let that end, or give it up with --reopen`);
  if (source?.role === 'target' && source.state === 'moving')
    return refuse(
      `${from} is itself being filled from ${source.other}: finish that move first, or give it up with --reopen`,
    );
  if (source?.role === 'source' && source.state === 'over') return afterwards(ends, source);
  if (source?.role === 'source' && target?.move === source.move && target.role === 'target')
    return { kind: 'resume', move: source.move };
  if (source?.role === 'source' && source.other !== to)
    return refuse(`${from} is moving to ${source.other}: finish that move, or give it up with --reopen`);
  const why = whyNotFilled(ends);
  return why === null ? { kind: 'begin', move: source?.role === 'source' ? source.move : null } : refuse(why);
}

/** The source is an empty house: only what was left behind can follow. */
function afterwards({ target, from, to }: Ends, source: Standing): Plan {
  if (target?.move !== source.move || target.role !== 'target')
    return refuse(`${from} has moved to ${source.other}, where its jobs are; nothing of it moves to ${to}`);
  if (source.left.length > 0 || target.state === 'moving') return { kind: 'rest', move: source.move };
  return { kind: 'done' };
}

function whyNotFilled({ source, target, from, to, isTargetEmpty }: Ends): string | null {
  if (target === null || (target.role === 'target' && target.state === 'over'))
    return isTargetEmpty ? null : `${to} is not empty: a move fills an empty store, it merges none`;
  if (target.role === 'target')
    return target.other === from
      ? null
      : `${to} is being filled from ${target.other}: give that up with --reopen first`;
  const isBack = target.state === 'over' && source?.move === target.move;
  if (!isBack) return `${to} is the source of a move to ${target.other}: its jobs live or will live there`;
  return target.left.length === 0
    ? null
    : `jobs were left behind in ${to}: bring them over before everything moves back`;
}

const refuse = (why: string): Plan => ({ kind: 'refuse', why });
