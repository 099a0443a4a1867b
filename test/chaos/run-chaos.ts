/**
 * Runs chaos: starts the stage, injects the planned faults, lets everything recover, and collects the evidence.
 *
 * The phases have limits: a run ends by itself. An aborted run ends at once and is not checked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../faults/ledger.ts';
import { openRandom } from '../faults/seeded-random.ts';
import type { Evidence, InjectedFault } from './checks/evidence.ts';
import { processesLeft, readStore } from './collect-evidence.ts';
import type { FaultKind } from './faults/fault-kind.ts';
import { type PlannedFault, planFaults } from './plan-faults.ts';
import { type ResourceSample, sampleResources } from './resources.ts';
import { Stage, type StageOptions } from './stage.ts';
import { SCRIPT_QUEUE } from './workload.ts';

export interface ChaosOptions extends StageOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly everyMs: number;
  readonly kinds: readonly FaultKind[];
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

export interface ChaosRun {
  readonly evidence: Evidence;
  readonly planned: number;
  /** Kinds and how often they hit nothing. */
  readonly missed: number;
  readonly samples: readonly ResourceSample[];
}

/** A machine under load works a backlog off slowly. */
const DRAIN_MS = 600_000;
/** Jobs that nothing has happened to for so long are stuck: leases end after a second and a half. */
const STILL_MS = 30_000;
const POLL_MS = 200;
const SAMPLE_MS = 2_000;
const FLIGHT_MS = 90_000;

export async function runChaos(options: ChaosOptions): Promise<ChaosRun> {
  const stage = new Stage(options);
  const faults: InjectedFault[] = [];
  const samples: ResourceSample[] = [];
  const sampler = setInterval(() => samples.push(...sampleResources(stage)), SAMPLE_MS);
  try {
    await stopOn(options.signal, stage.start());
    const planned = planFaults({ ...options, kinds: options.kinds.map(({ name }) => name) });
    options.print(`${planned.length} faults of ${options.kinds.length} kinds in ${options.durationMs / 1_000} s …`);
    await stopOn(options.signal, injectAll(stage, planned, faults, options));
    options.print('The faults are over; the queues drain …');
    await stopOn(options.signal, recover(stage));
    const read = await stopOn(
      options.signal,
      readStore(stage, (job, attempt) => logOf(stage, job, attempt)),
    );
    const unclosed = await stage.closeWorkers();
    await stage.node.close();
    await stage.kill();
    const left = [...unclosed.map((name) => `${name} did not close`), ...(await processesLeft(options.folder))];
    const evidence = { ...read, faults, processesLeft: left };
    return { evidence, planned: planned.length, missed: planned.length - faults.length, samples };
  } finally {
    clearInterval(sampler);
    await stage.kill();
  }
}

/** Rejects as soon as the run is aborted. */
function stopOn<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Starts every fault at its time, whether or not the earlier ones are over. Resolves when all are. */
async function injectAll(
  stage: Stage,
  planned: readonly PlannedFault[],
  faults: InjectedFault[],
  { kinds, signal, print }: ChaosOptions,
): Promise<void> {
  const beginAt = monotonicMs();
  const flying = new Set<Promise<void>>();
  for (const { atMs, kind: name, seed } of planned) {
    await sleep(Math.max(0, beginAt + atMs - monotonicMs()));
    if (signal.aborted) break;
    const kind = kinds.find((each) => each.name === name);
    if (kind === undefined) continue;
    const flight = inject(stage, kind, seed)
      .then((fault) => void (fault && faults.push(fault)))
      .catch((error: unknown) => print(`fault ${name} (seed ${seed}) was not injected: ${String(error)}`))
      .finally(() => flying.delete(flight));
    flying.add(flight);
  }
  await Promise.race([Promise.all(flying), sleep(FLIGHT_MS, null, { ref: false })]);
}

async function inject(stage: Stage, kind: FaultKind, seed: number): Promise<InjectedFault | null> {
  const from = monotonicMs();
  const injected = await kind.inject({ stage, random: openRandom(seed) });
  if (injected === null) return null;
  const fault = { kind: kind.name, effect: kind.effect, from, to: monotonicMs(), pid: null, ...injected };
  stage.ledger('fault', { kind: kind.name, child: fault.pid, detail: injected.detail });
  return fault;
}

/** Ends the producers and waits until no job waits or runs; jobs that are left are a finding of the checks. */
async function recover(stage: Stage): Promise<void> {
  await stage.closeProducers();
  await stage.endLimits();
  let [seen, changedAt] = ['', monotonicMs()];
  for (const endAt = changedAt + DRAIN_MS; monotonicMs() < endAt; await sleep(POLL_MS)) {
    const counts = await stage.longhaul.queues().catch(() => null);
    if (counts?.every(({ waiting, running }) => waiting + running === 0)) return;
    const now = JSON.stringify(counts?.map(({ queue, waiting, running, done }) => [queue, waiting, running, done]));
    if (now !== seen) [seen, changedAt] = [now, monotonicMs()];
    if (monotonicMs() - changedAt > STILL_MS) return;
  }
}

type LogOwner = Evidence['jobs'][number]['job'];

/** The node has the logs of scripts, the store those of handlers. */
async function logOf(stage: Stage, { id, queue }: LogOwner, attempt: number): Promise<readonly string[]> {
  const pieces: string[] = [];
  if (queue === SCRIPT_QUEUE) pieces.push(await stage.get(`/api/jobs/${id}/attempts/${attempt}/log`));
  else for await (const piece of stage.longhaul.logs(id, { attempt })) pieces.push(piece);
  return pieces
    .join('\n')
    .split('\n')
    .filter((line) => line !== '');
}
