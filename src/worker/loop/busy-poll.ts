/**
 * Busy polling: keeps the event loop from sleeping while an answer is due within a fraction of a millisecond.
 *
 * A worker whose slots are all free has nothing to do but wait. To put its thread to sleep and to wake it up again takes
 * longer than a store needs for a small call, most of all in a virtual machine (docs/decisions/0030-busy-polling.md).
 *
 * Invariant: a wait costs at most MAX_WAIT_MS of processor time.
 * Invariant: a worker does not poll while its store usually answers later than that, or while other threads need the
 * processors: then they would wait for this one, among them perhaps the store.
 */
import { availableParallelism } from 'node:os';

/** Above the answers of a Redis server on the same machine, below those of SQLite: there, polling gains little. */
const MAX_WAIT_MS = 0.4;
/** Turns of the event loop in one wait, whatever the clock says. One takes a microsecond or more. */
const MAX_TURNS = 1_000;
/** The average is of about so many answers. */
const AVERAGED = 8;
/** The load of the processors is measured over so many requests. */
export const SAMPLE = 100;
/** For each request that polls. Measured on two cores: 0.2 with a core to spare, 0.8 and more without (decision 30). */
const MAX_PREEMPTIONS = 0.4;
/** So many measurements long a worker without a core to spare does not poll, before it tries again. */
export const PAUSE = 10;

/** The processors that this process may use. */
export interface MachineLoad {
  readonly cores: number;
  /** Returns how often the scheduler has interrupted threads of this process. */
  preemptions(): number;
}

const thisMachine = (): MachineLoad => ({
  cores: availableParallelism(),
  preemptions: () => process.resourceUsage().involuntaryContextSwitches,
});

export class BusyPoll {
  readonly #machine: MachineLoad;
  #isWaiting = false;
  #isScheduled = false;
  /** Times are of `performance.now()`, which makes no garbage. */
  #sentAt = 0;
  #turns = 0;
  /** How long answers took lately. Starts above the limit. */
  #averageMs = 2 * MAX_WAIT_MS;
  /** Measurements until it may poll. Those of a pause tell nothing: a store that wakes up preempts its caller. */
  #pause = 0;
  #requests = 0;
  #lastPreemptions = 0;

  constructor(machine: MachineLoad = thisMachine()) {
    this.#machine = machine;
  }

  /** Called when a request was sent for whose answer the worker can only wait. */
  start(): void {
    this.#sentAt = performance.now();
    if (this.#machine.cores === 1 || this.#averageMs > MAX_WAIT_MS || this.#pause > 0) return;
    this.#isWaiting = true;
    this.#turns = 0;
    this.#schedule();
  }

  /** Called when such a request was answered. */
  stop(): void {
    this.#isWaiting = false;
    // A single late answer counts for no more than twice the limit.
    const ms = Math.min(performance.now() - this.#sentAt, 2 * MAX_WAIT_MS);
    this.#averageMs += (ms - this.#averageMs) / AVERAGED;
    this.#requests += 1;
    if (this.#requests % SAMPLE === 0) this.#measureLoad();
  }

  #measureLoad(): void {
    const preemptions = this.#machine.preemptions();
    if (this.#pause > 0) this.#pause -= 1;
    else if (preemptions - this.#lastPreemptions > MAX_PREEMPTIONS * SAMPLE) this.#pause = PAUSE;
    this.#lastPreemptions = preemptions;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#turns += 1;
    if (!this.#isWaiting || this.#turns >= MAX_TURNS) return;
    if (performance.now() - this.#sentAt < MAX_WAIT_MS) this.#schedule();
  };
}
