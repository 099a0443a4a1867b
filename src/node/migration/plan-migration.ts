/**
 * Decides what the standings of two stores allow: start a migration, resume it, copy jobs left behind, or nothing.
 * Pure; migrate-store.ts acts. Invariant: no plan lets a job be open in both stores.
 */
import type { MigrationState } from '../../core/ports/migration.ts';

export interface Ends {
  readonly source: MigrationState | null;
  readonly target: MigrationState | null;
  /** Display names. */
  readonly from: string;
  readonly to: string;
  readonly isTargetEmpty: boolean;
}

export type Plan =
  /** `begin` empties the target first: it holds no open job. */
  | { readonly kind: 'begin' | 'resume' | 'rest'; readonly move: string | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'refuse'; readonly why: string };

export function planMigration(ends: Ends): Plan {
  const { source, target, from, to } = ends;
  const importing = [source, target].find((each) => each?.role === 'import');
  if (importing !== undefined && importing !== null)
    return refuse(`jobs are being imported from ${importing.other}: wait for the import, or cancel it with --reopen`);
  if (source?.role === 'target' && source.state === 'moving')
    return refuse(
      `${from} is itself the target of a migration from ${source.other}: finish that migration first, or cancel it with --reopen`,
    );
  if (source?.role === 'source' && source.state === 'over') return afterMigration(ends, source);
  if (source?.role === 'source' && target?.move === source.move && target.role === 'target')
    return { kind: 'resume', move: source.move };
  if (source?.role === 'source' && source.other !== to)
    return refuse(`${from} is being migrated to ${source.other}: finish that migration, or cancel it with --reopen`);
  const why = targetProblem(ends);
  return why === null ? { kind: 'begin', move: source?.role === 'source' ? source.move : null } : refuse(why);
}

/** The source has been migrated: only jobs left behind can follow. */
function afterMigration({ target, from, to }: Ends, source: MigrationState): Plan {
  if (target?.move !== source.move || target.role !== 'target')
    return refuse(`${from} was migrated to ${source.other}, which has its jobs; it cannot be migrated to ${to}`);
  if (source.left.length > 0 || target.state === 'moving') return { kind: 'rest', move: source.move };
  return { kind: 'done' };
}

function targetProblem({ source, target, from, to, isTargetEmpty }: Ends): string | null {
  if (target === null || (target.role === 'target' && target.state === 'over'))
    return isTargetEmpty ? null : `${to} is not empty: a migration needs an empty target`;
  if (target.role === 'target')
    return target.other === from
      ? null
      : `${to} is the target of a migration from ${target.other}: cancel that with --reopen first`;
  const isBack = target.state === 'over' && source?.move === target.move;
  if (!isBack) return `${to} is the source of a migration to ${target.other}, which has or will have its jobs`;
  return target.left.length === 0 ? null : `jobs were left behind in ${to}: migrate them before you migrate back`;
}

const refuse = (why: string): Plan => ({ kind: 'refuse', why });
