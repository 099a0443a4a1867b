/**
 * Sees what a store cannot: a running job that gives no sign of life, and one that runs longer than is usual in its queue.
 * Each is told once an attempt: its job has an id of that attempt, and a record remembers it when that job is gone.
 *
 * Where several nodes share a store, each looks at all jobs. Of a script only the node that runs it can say that it is
 * silent; of a handler, which has progress alone to show, any of them.
 */

import type { RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { Hook } from '../../core/webhooks/webhook.ts';
import { hookJob, hooksOf, onceId } from '../../core/webhooks/webhook.ts';
import { expectationOf } from '../../wire/expected-end.ts';
import type { UsualRun } from '../../wire/usual-run.ts';
import { usualRun } from '../../wire/usual-run.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import type { HookParts } from './open-webhooks.ts';

const LOOK_EVERY_MS = 5_000;
const PAGE = 500;
const TOLD_RECORD = 'hook-told';
const REMEMBERED_MS = 60 * DAY_MS;

export function startHookWatch(parts: HookParts): { stop(): Promise<void> } {
  const watch = new HookWatch(parts);
  let last: Promise<void> = Promise.resolve();
  let isBusy = false;
  const look = (): void => {
    if (isBusy) return;
    isBusy = true;
    last = watch
      .look()
      .catch((error: unknown) => parts.onTrouble('running jobs could not be looked at for hooks', error))
      .finally(() => {
        isBusy = false;
      });
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

/** What one look reads once for a queue. */
interface OfQueue {
  readonly settings: QueueSettings;
  usual?: Promise<UsualRun | null>;
}

type Seen = 'silent' | 'slow';

class HookWatch {
  readonly #parts: HookParts;
  readonly #settings: SettingsCache;
  readonly #queues = new Map<string, OfQueue>();
  /** What was told, so that it is not asked about again. */
  #told: ReadonlySet<string> = new Set();

  constructor(parts: HookParts) {
    this.#parts = parts;
    this.#settings = new SettingsCache(parts.store);
  }

  async look(): Promise<void> {
    const told = new Set<string>();
    this.#queues.clear();
    let after: string | null = null;
    do {
      const query = { state: 'running', order: 'newest', limit: PAGE, ...(after !== null && { after }) } as const;
      const page = await this.#parts.store.jobs.list(query);
      for (const job of page.jobs.filter(isRunning)) for (const id of await this.#lookAt(job)) told.add(id);
      after = page.next;
    } while (after !== null);
    this.#told = told;
  }

  /** The ids of what has been told of it, now or before. */
  async #lookAt(job: RunningJob): Promise<readonly string[]> {
    const { settings } = await this.#queue(job.queue);
    const wanted = hooksOf(job, settings).flatMap((hook, place) =>
      (['silent', 'slow'] as const)
        .filter((event) => hook.on.includes(event))
        .map((event) => ({ hook, event, id: onceId(job, event, place) })),
    );
    const told: string[] = [];
    for (const { hook, event, id } of wanted) {
      const isKnown = this.#told.has(id);
      if (!isKnown && !(await this.#isSo(event, job, hook))) continue;
      if (!isKnown) await this.#tell(hookJob(job, hook, { event, at: Date.now() }, id));
      told.push(id);
    }
    return told;
  }

  async #queue(queue: string): Promise<OfQueue> {
    const known = this.#queues.get(queue) ?? { settings: await this.#settings.read(queue) };
    this.#queues.set(queue, known);
    return known;
  }

  async #isSo(event: Seen, job: RunningJob, hook: Hook): Promise<boolean> {
    const of = await this.#queue(job.queue);
    if (event === 'silent')
      return (await this.#silentMs(job, of.settings)) >= (hook.silentMs ?? Number.POSITIVE_INFINITY);
    of.usual ??= this.#parts.store.jobs.insight({ kind: 'statistics', queue: job.queue }).then(usualRun);
    return expectationOf(job, await of.usual, Date.now()).isSlow;
  }

  /** -1 where nobody here can say. A job that was told to pause is silent because it should be. */
  async #silentMs(job: RunningJob, { script }: QueueSettings): Promise<number> {
    const { lease, progress } = job;
    const outputAt = await this.#parts.outputAt(job);
    const isElsewhere = outputAt === null && this.#parts.store.isShared && script !== null;
    if (isElsewhere || lease.pauseAskedAt !== null) return -1;
    return Date.now() - Math.max(lease.claimedAt, lease.startedAt ?? 0, progress?.at ?? 0, outputAt ?? 0);
  }

  /** The job first: were the record first, a crash between them would lose it. */
  async #tell(job: NewJob): Promise<void> {
    const { jobs, records } = this.#parts.store;
    if ((await records.get(TOLD_RECORD, job.id)) !== null) return;
    const [answer] = await jobs.add([job]);
    if (answer?.ok !== true) throw new Error(`a hook could not be added: ${answer?.refusal.message}`);
    await records.put({ kind: TOLD_RECORD, key: job.id, value: 'true', expiresAt: Date.now() + REMEMBERED_MS });
  }
}
