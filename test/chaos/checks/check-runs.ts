/** Checks of runs against each other: overlap, limits, and steps that ran again. Pure. */
import { endOf, type HandlerRun, type LedgerEntry, longestOverlapMs, runsOf, wasStopped } from '../../faults/ledger.ts';
import {
  type Check,
  checkedRuns,
  type Evidence,
  type Finding,
  GRACE_MS,
  type InjectedFault,
  processFaults,
} from './evidence.ts';

/** Two runs of a job at the same time, although neither process was frozen, or blocked without a store. */
export const checkOverlap: Check = (evidence) => {
  const faults = processFaults(evidence);
  const runs = checkedRuns(evidence).filter((run) => !wasCutOffWhileBlocked(run, evidence));
  return [...byJob(runs)].flatMap(([id, runs]): Finding[] => {
    const ms = runs.length < 2 ? 0 : longestOverlapMs(runs, faults);
    if (ms <= GRACE_MS) return [];
    const tokens = runs.map(({ token, pid }) => `${token} in process ${pid}`).join(', ');
    return [{ check: 'overlap', text: `runs of ${id} overlap by ${Math.round(ms)} ms: tokens ${tokens}` }];
  });
};

/**
 * A blocked loop alone loses no lease. If the store is out of reach too, it does, and cannot stop its handler either. The
 * handler may even end before it learns of that, so a fault of the store or of its node meanwhile counts without an abort.
 */
const wasCutOffWhileBlocked = (run: HandlerRun, { faults }: Evidence): boolean =>
  faults
    .filter((fault) => fault.kind === 'block-loop' && fault.pid === run.pid && hit(run, fault))
    .some(
      (block) =>
        run.abortReason === 'unreachable' ||
        faults.some((fault) => hit(run, fault) && (isOfNode(fault, block) || isStoreFault(fault, block))),
    );

const isOfNode = ({ pid, effect }: InjectedFault, { nodePid }: InjectedFault): boolean =>
  nodePid !== undefined && pid === nodePid && (effect === 'freeze' || effect === 'kill');

const isStoreFault = ({ effect, from, to }: InjectedFault, block: InjectedFault): boolean =>
  effect === 'store' && from < block.to && to > block.from;

const hit = (run: HandlerRun, { from, to }: InjectedFault): boolean =>
  from < run.lastAt && to + GRACE_MS > run.startedAt;

function byJob(runs: readonly HandlerRun[]): ReadonlyMap<string, HandlerRun[]> {
  const grouped = new Map<string, HandlerRun[]>();
  for (const run of runs) {
    const known = grouped.get(run.id);
    if (known === undefined) grouped.set(run.id, [run]);
    else known.push(run);
  }
  return grouped;
}

interface Limit {
  readonly from: number;
  readonly to: number;
  readonly max: number;
}

/** More jobs of a queue ran at once than its limit allows. After a change both limits hold for a moment. */
export const checkLimits: Check = (evidence) => {
  const changes = evidence.entries.filter(({ type }) => type === 'limit');
  const queues = [...new Set(changes.map(({ queue = '' }) => queue))];
  return queues.flatMap((queue) => overLimit(evidence, queue, limitsOf(changes, queue)));
};

/** A higher limit is possible from the request of the change; a lower one only binds runs that start after its answer. */
function limitsOf(changes: readonly LedgerEntry[], queue: string): readonly Limit[] {
  const own = changes.filter((change) => change.queue === queue);
  return own.map(({ at, value = 0 }, place) => ({
    from: at,
    to: (own[place + 1]?.until ?? Number.POSITIVE_INFINITY) + GRACE_MS,
    max: value,
  }));
}

function overLimit(evidence: Evidence, queue: string, limits: readonly Limit[]): readonly Finding[] {
  const faults = processFaults(evidence);
  const queueOf = new Map(evidence.jobs.map(({ job }) => [job.id, job.queue]));
  const runs = checkedRuns(evidence).filter((run) => queueOf.get(run.id) === queue && !wasStopped(run, faults));
  const live = (at: number) => runs.filter((run) => run.startedAt <= at && endOf(run, faults) > at);
  return runs.flatMap((run): Finding[] => {
    // Measured a moment after the start: the slot of a run that has just ended is free before its last entry.
    const at = run.startedAt + GRACE_MS;
    if (endOf(run, faults) <= at) return [];
    const max = Math.max(...limits.filter(({ from, to }) => from <= at && to > run.startedAt).map((each) => each.max));
    const count = live(at).filter((other) => other.startedAt <= run.startedAt).length;
    if (limits.length === 0 || count <= max) return [];
    return [{ check: 'limits', text: `${count} jobs of ${queue} run at ${Math.round(at)}, the limit is ${max}` }];
  });
}

/** The function of a step ran again after its result was kept. A run that was frozen, or met a wrong clock, may not know. */
export const checkSteps: Check = (evidence) => {
  const faults = processFaults(evidence);
  const withRightClocks = new Set(checkedRuns(evidence).map(keyOf));
  const excused = new Set(
    runsOf(evidence.entries)
      .filter((run) => wasStopped(run, faults) || !withRightClocks.has(keyOf(run)))
      .map(keyOf),
  );
  const kept = new Map<string, number>();
  return evidence.entries.flatMap((entry): Finding[] => {
    const { type, id, step, at } = entry;
    if (type !== 'step' && type !== 'kept') return [];
    const name = `${id} ${step}`;
    const keptAt = kept.get(name);
    if (type === 'kept' && keptAt === undefined) kept.set(name, at);
    if (type === 'kept' || keptAt === undefined || excused.has(keyOf(entry))) return [];
    return [
      { check: 'steps', text: `step ${step} of ${id} ran again ${Math.round(at - keptAt)} ms after it was kept` },
    ];
  });
};

const keyOf = ({ id, token, pid }: { id?: string; token?: number; pid: number }): string => `${id} ${token} ${pid}`;
