/**
 * Claims that wait in the engine for a job.
 *
 *     performed, no job ──▶ held ──an event of its queues, nextAt──▶ due ──▶ performed in the next group ──▶ held …
 *                            └──its time is over, withdrawn──▶ answered without jobs
 *
 * A held claim is performed at the end of the transaction whose events may be work for it, so an add and the claim of its
 * job share a commit. It does not write while there is no job.
 *
 * Invariant: a held claim is performed after every event of its queues, or it is answered without jobs.
 * Invariant: no claim is held for a client that is gone: no worker would run its jobs.
 */
import type { ClaimRequest, ClaimResult, StoreEvent } from '../../core/ports/job-store.ts';
import { mayBeClaimed } from '../../core/ports/job-store.ts';
import type { Call, EngineClient } from './engine/engine-clients.ts';
import type { CallResult } from './engine/group-writer.ts';
import type { Request } from './engine/messages.ts';

export interface HeldClaim {
  readonly call: Call;
  /** When its time is over, by `performance.now()`. */
  readonly endAt: number;
  /** The answer to the last try, which is without jobs. */
  empty: ClaimResult;
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A held claim that was performed again. */
export interface Tried {
  readonly held: HeldClaim;
  readonly result: CallResult;
}

export interface WaitingClaimsOptions {
  answer(call: Call, result: CallResult): void;
  /** Called when claims are due without an event of this engine, or answers are to be sent. */
  schedule(): void;
}

export class WaitingClaims {
  readonly #options: WaitingClaimsOptions;
  /** The one that waits longest is first. */
  readonly #held = new Set<HeldClaim>();

  constructor(options: WaitingClaimsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  get areDue(): boolean {
    for (const { isDue } of this.#held) if (isDue) return true;
    return false;
  }

  requests(): readonly Request[] {
    return Array.from(this.#held, ({ call }) => call.request);
  }

  /** Marks the claims that events of another engine concern. Returns whether there are any. */
  mark(events: readonly StoreEvent[]): boolean {
    if (this.isEmpty) return false;
    const queues = queuesOf(events);
    for (const held of this.#held) held.isDue ||= concerns(queues, held.call);
    return this.areDue;
  }

  /**
   * Performs the claims that are due or that the events of the open transaction concern. After a claim that found fewer
   * jobs than it wanted, there is nothing left for another of the same queues.
   */
  perform(events: readonly StoreEvent[], run: (request: Request) => CallResult): readonly Tried[] {
    if (this.isEmpty) return [];
    const queues = queuesOf(events);
    const nothingLeft = new Map<string, CallResult>();
    const tried: Tried[] = [];
    for (const held of this.#held) {
      if (!held.isDue && !concerns(queues, held.call)) continue;
      const key = requestOf(held.call).queues.join('\n');
      const result = nothingLeft.get(key) ?? run(held.call.request);
      tried.push({ held, result });
      const found = foundBy(result);
      if (found !== null && found.jobs.length < requestOf(held.call).limit)
        nothingLeft.set(key, { answer: { ...found, jobs: [] } });
    }
    return tried;
  }

  /** Answers the claims that got jobs; the others continue to wait. Called when a group was written or refused. */
  settle(tried: readonly Tried[]): void {
    for (const { held, result } of tried) {
      const found = foundBy(result);
      if (found === null || found.jobs.length > 0 || held.endAt <= performance.now()) this.#end(held, result);
      else this.#wait(held, found);
    }
    for (const held of this.#held) held.isDue = false;
  }

  /** Holds a claim that got no job, unless it cannot wait; returns whether. `events`: those of its own transaction. */
  hold(call: Call, result: CallResult, events: readonly StoreEvent[]): boolean {
    const { waitMs } = call.request;
    const empty = waitMs === undefined ? null : foundBy(result);
    if (waitMs === undefined || empty === null || empty.jobs.length > 0) return false;
    const held: HeldClaim = { call, endAt: performance.now() + waitMs, empty, isDue: false, timer: undefined };
    this.#held.add(held);
    this.#wait(held, empty);
    // A later call of the same transaction may have been the one it waits for.
    held.isDue = concerns(queuesOf(events), call);
    return true;
  }

  /** Answers a claim without jobs. Returns false if it is not held. */
  withdraw(client: EngineClient, id: number): boolean {
    for (const held of this.#held) {
      if (held.call.client !== client || held.call.request.id !== id) continue;
      this.#end(held, { answer: held.empty });
      return true;
    }
    return false;
  }

  /** Forgets the claims of a client that is gone, or of all. */
  forget(client?: EngineClient): void {
    for (const held of this.#held) {
      if (client !== undefined && held.call.client !== client) continue;
      clearTimeout(held.timer);
      this.#held.delete(held);
    }
  }

  #wait(held: HeldClaim, empty: ClaimResult): void {
    held.empty = empty;
    clearTimeout(held.timer);
    const { now, nextAt } = empty;
    const leftMs = held.endAt - performance.now();
    const isDueEarlier = nextAt !== null && nextAt > now && nextAt - now < leftMs;
    held.timer = setTimeout(
      () => {
        if (isDueEarlier) held.isDue = true;
        else this.#end(held, { answer: held.empty });
        this.#options.schedule();
      },
      isDueEarlier ? nextAt - now : leftMs,
    );
  }

  #end(held: HeldClaim, result: CallResult): void {
    clearTimeout(held.timer);
    this.#held.delete(held);
    this.#options.answer(held.call, result);
  }
}

function queuesOf(events: readonly StoreEvent[]): ReadonlySet<string> {
  const queues = new Set<string>();
  for (const event of events) if (mayBeClaimed(event)) queues.add(event.queue);
  return queues;
}

function concerns(queues: ReadonlySet<string>, call: Call): boolean {
  return queues.size > 0 && requestOf(call).queues.some((queue) => queues.has(queue));
}

function requestOf({ request: { argument } }: Call): ClaimRequest {
  return argument as ClaimRequest;
}

/** Returns null for an error. */
function foundBy(result: CallResult): ClaimResult | null {
  return 'error' in result ? null : (result.answer as ClaimResult);
}
