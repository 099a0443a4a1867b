/**
 * One run of a handler under chaos: a job in a new memory store, workers of the library, faults at given points.
 *
 * A fault takes the job from its worker: the store is told that the worker is lost, as after an expired lease, and a
 * second worker of the run claims the job. The clock of the store moves to the next run time whenever nothing runs.
 */
import type { Job } from '../../core/job/job.ts';
import { isBlocked, isEnded } from '../../core/job/job.ts';
import { NEVER, plainName } from '../../core/job/step.ts';
import type { ActiveJob, Handler, Longhaul, SettingsInput, Work } from '../../library/index.ts';
import { connectForTests, type TestConnection } from '../connect-for-tests.ts';
import { Probe, type ProbeHost, whileRunning } from './probe.ts';

export const FAULTS = ['kill', 'freeze', 'repeat', 'interrupt'] as const;
/** What chaos does to an attempt at a point. */
export type ChaosFault = (typeof FAULTS)[number];

/** A fault at a point; `point` has a number when the run passes it more than once. */
export interface PlannedFault {
  readonly fault: ChaosFault;
  readonly point: string;
}

export interface RunPlan<Data> {
  readonly handler: Handler<Data>;
  readonly data: Data;
  readonly settings: SettingsInput;
  /** Data of events, by name. */
  readonly events: Readonly<Record<string, unknown>>;
  /** Handlers of other queues. */
  readonly queues: Readonly<Record<string, Handler>>;
  readonly timeoutMs: number;
}

export interface RunResult {
  /** Null if the job did not end in time. */
  readonly state: 'done' | 'failed' | 'cancelled' | null;
  /** Why it did not end well; null if it did. */
  readonly problem: string | null;
  readonly points: readonly string[];
  /** How often each effect happened. */
  readonly effects: ReadonlyMap<string, number>;
}

interface Attempt {
  readonly work: Work;
  /** Resolves when the handler has ended. */
  readonly ended: Promise<unknown>;
}

const QUEUE = 'chaos';
const PAGE = 1_000;
/** Turns of the event loop before a run waits with timers: handlers with real I/O take longer. */
const BUSY_TURNS = 200;

export function runOnce<Data>(plan: RunPlan<Data>, faults: readonly PlannedFault[]): Promise<RunResult> {
  return whileRunning(() => new ChaosRun(plan, faults).run());
}

class ChaosRun<Data> implements ProbeHost {
  readonly #plan: RunPlan<Data>;
  readonly #faults: PlannedFault[];
  readonly #connection: TestConnection = connectForTests();
  readonly #longhaul: Longhaul = this.#connection.longhaul;
  readonly #points: string[] = [];
  readonly #passed = new Map<string, number>();
  readonly #effects = new Map<string, number>();
  readonly #keys = new Set<string>();
  readonly #works: Work[] = [];
  /** Attempts that stand still until the job has ended. */
  readonly #frozen = new Set<Probe>();
  readonly #attempts = new Map<Probe, Attempt>();
  #onStart: (() => void)[] = [];
  #turns = 0;
  #endsAt = 0;

  constructor(plan: RunPlan<Data>, faults: readonly PlannedFault[]) {
    this.#plan = plan;
    this.#faults = [...faults];
  }

  async run(): Promise<RunResult> {
    const { data, settings, queues, timeoutMs } = this.#plan;
    this.#endsAt = performance.now() + timeoutMs;
    try {
      const queue = this.#longhaul.queue<Data>(QUEUE);
      await queue.configure(settings);
      for (const [name, handler] of Object.entries(queues)) this.#longhaul.queue(name).work(handler);
      const { id } = await queue.add(data);
      await this.#startWorker();
      const job = await this.#untilEnded(id);
      for (const probe of this.#frozen) probe.release();
      const isOver = await this.#untilAttemptsEnd();
      return this.#result(job, isOver);
    } finally {
      await Promise.all(this.#works.map((work) => work.stop({ force: true })));
      await this.#longhaul.close();
    }
  }

  onEffect(name: string, idempotencyKey: string | null): void {
    const key = JSON.stringify([name, idempotencyKey]);
    if (idempotencyKey !== null && this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#effects.set(name, (this.#effects.get(name) ?? 0) + 1);
  }

  async onPoint(probe: Probe, name: string): Promise<void> {
    const times = (this.#passed.get(name) ?? 0) + 1;
    this.#passed.set(name, times);
    const point = times === 1 ? name : `${name} (${times})`;
    this.#points.push(point);
    const index = this.#faults.findIndex((each) => each.point === point);
    const [planned] = index < 0 ? [] : this.#faults.splice(index, 1);
    // Only the attempt that holds the lease can lose it.
    if (planned !== undefined && probe === this.#holder()) await this.#inject(planned.fault, probe);
  }

  /** The attempt that started last. */
  #holder(): Probe | undefined {
    return [...this.#attempts.keys()].at(-1);
  }

  async #startWorker(): Promise<void> {
    const work: Work = this.#longhaul.queue<Data>(QUEUE).work((job) => this.#call(job, work));
    this.#works.push(work);
    await work.ready;
  }

  async #call(job: ActiveJob<Data>, work: Work): Promise<unknown> {
    const probe = new Probe(this, job.signal);
    const attempt = probe.run(async () => {
      await probe.point('start');
      const result = await this.#plan.handler(probe.around(job));
      await probe.point('end');
      return result;
    });
    this.#attempts.set(probe, { work, ended: attempt.catch(() => undefined) });
    for (const started of this.#onStart.splice(0)) started();
    return attempt;
  }

  async #inject(fault: ChaosFault, probe: Probe): Promise<void> {
    const work = this.#attempts.get(probe)?.work;
    if (work === undefined) return;
    // What the handler sent before, such as a checkpoint, has reached the store.
    await turn();
    if (fault === 'kill') probe.kill();
    else if (fault !== 'interrupt') probe.hold();
    if (fault === 'freeze') this.#frozen.add(probe);
    work.pause();
    await this.#startWorker();
    if (fault === 'interrupt') {
      void work.stop({ drainMs: 0 });
      return probe.stopping();
    }
    const claimedAgain = new Promise<void>((resolve) => this.#onStart.push(resolve));
    await this.#longhaul.store.jobs.endWorker({ id: work.id, kind: 'fail' });
    if (fault === 'repeat') void claimedAgain.then(() => probe.release());
  }

  /** Returns the job when it has ended, or null after the time is over. */
  async #untilEnded(id: string): Promise<Job | null> {
    while (performance.now() < this.#endsAt) {
      const [job] = await this.#longhaul.store.jobs.find([id]);
      if (job !== null && job !== undefined && isEnded(job.state)) return job;
      await this.#moveOn();
      this.#turns += 1;
      await (this.#turns < BUSY_TURNS ? turn() : pause());
    }
    return null;
  }

  /** Sends the events that jobs wait for, and moves the clock when nothing runs and nothing is due. */
  async #moveOn(): Promise<void> {
    const { clock } = this.#connection;
    const { jobs } = this.#longhaul.store;
    const { jobs: all } = await jobs.list({ order: 'newest', limit: PAGE });
    for (const job of all) {
      const name = plainName(job.suspension?.event ?? '');
      if (job.state === 'waiting' && job.runAt > clock.now() && Object.hasOwn(this.#plan.events, name))
        await this.#longhaul.notify(job.id, name, this.#plan.events[name]);
    }
    const open = all.filter((job) => !isEnded(job.state) && !isBlocked(job));
    const next = Math.min(...open.map((job) => (job.state === 'waiting' ? job.runAt : 0)));
    if (next > clock.now() && next < NEVER) clock.advance(next - clock.now());
  }

  /** Waits for the attempts that are not dead. Returns whether all have ended. */
  async #untilAttemptsEnd(): Promise<boolean> {
    const living = [...this.#attempts].filter(([probe]) => !probe.isDead).map(([, { ended }]) => ended);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.max(1, this.#endsAt - performance.now()));
    });
    return Promise.race([Promise.all(living).then(() => true), late]).finally(() => clearTimeout(timer));
  }

  #result(job: Job | null, isOver: boolean): RunResult {
    const [points, effects] = [this.#points, this.#effects];
    if (job === null) return { state: null, problem: this.#whyNotEnded(), points, effects };
    const state = job.state as 'done' | 'failed' | 'cancelled';
    if (state !== 'done')
      return { state, problem: `the job ${state}: ${job.failure?.message ?? 'no failure is known'}`, points, effects };
    const problem = isOver ? null : `an attempt that lost its lease did not end in ${this.#plan.timeoutMs} ms`;
    return { state: isOver ? state : null, problem, points, effects };
  }

  #whyNotEnded(): string {
    return (
      `the job did not end in ${this.#plan.timeoutMs} ms; its last point was: ${this.#points.at(-1) ?? 'none'}. ` +
      'Give `events` for events it waits for, `queues` for jobs it adds, or a longer `timeout`'
    );
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
