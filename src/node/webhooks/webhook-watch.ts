/**
 * Finds running jobs that are silent, or that run longer than usual in their queue. Each is reported once per attempt:
 * the webhook's job has an id of that attempt, and a record outlives that job.
 *
 * On a shared store, each node checks all jobs. Only the node that runs a script can tell that it is silent; for a
 * handler, which shows progress only, any node can.
 */

import type { RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { Webhook } from '../../core/webhooks/webhook.ts';
import { onceEventId, webhookJob, webhooksOf } from '../../core/webhooks/webhook.ts';
import { expectationOf } from '../../wire/expected-end.ts';
import type { UsualRun } from '../../wire/usual-run.ts';
import { usualRun } from '../../wire/usual-run.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import type { WebhookParts } from './open-webhooks.ts';

const POLL_INTERVAL_MS = 5_000;
const PAGE = 500;
const REPORTED_RECORD = 'hook-told';
const RECORD_MS = 60 * DAY_MS;

export function startWebhookWatch(parts: WebhookParts): { stop(): Promise<void> } {
  const watch = new WebhookWatch(parts);
  let last: Promise<void> = Promise.resolve();
  let isBusy = false;
  const poll = (): void => {
    if (isBusy) return;
    isBusy = true;
    last = watch
      .poll()
      .catch((error: unknown) => parts.onTrouble('running jobs could not be checked for webhooks', error))
      .finally(() => {
        isBusy = false;
      });
  };
  const timer = setInterval(poll, POLL_INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}

/** Cached per queue during one poll. */
interface QueueFacts {
  readonly settings: QueueSettings;
  usual?: Promise<UsualRun | null>;
}

type WatchedEvent = 'silent' | 'slow';

class WebhookWatch {
  readonly #parts: WebhookParts;
  readonly #settings: SettingsCache;
  readonly #queues = new Map<string, QueueFacts>();
  /** Reported ids, which are not checked again. */
  #reported: ReadonlySet<string> = new Set();

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#settings = new SettingsCache(parts.store);
  }

  async poll(): Promise<void> {
    const reported = new Set<string>();
    this.#queues.clear();
    let after: string | null = null;
    do {
      const query = { state: 'running', order: 'newest', limit: PAGE, ...(after !== null && { after }) } as const;
      const page = await this.#parts.store.jobs.list(query);
      for (const job of page.jobs.filter(isRunning)) for (const id of await this.#check(job)) reported.add(id);
      after = page.next;
    } while (after !== null);
    this.#reported = reported;
  }

  /** Returns the ids that were reported for this job, now or before. */
  async #check(job: RunningJob): Promise<readonly string[]> {
    const { settings } = await this.#queue(job.queue);
    const wanted = webhooksOf(job, settings).flatMap((hook, index) =>
      (['silent', 'slow'] as const)
        .filter((event) => hook.on.includes(event))
        .map((event) => ({ hook, event, id: onceEventId(job, event, index) })),
    );
    const reported: string[] = [];
    for (const { hook, event, id } of wanted) {
      const isKnown = this.#reported.has(id);
      if (!isKnown && !(await this.#applies(event, job, hook))) continue;
      if (!isKnown) await this.#add(webhookJob(job, hook, { event, at: Date.now() }, id));
      reported.push(id);
    }
    return reported;
  }

  async #queue(queue: string): Promise<QueueFacts> {
    const known = this.#queues.get(queue) ?? { settings: await this.#settings.read(queue) };
    this.#queues.set(queue, known);
    return known;
  }

  async #applies(event: WatchedEvent, job: RunningJob, hook: Webhook): Promise<boolean> {
    const facts = await this.#queue(job.queue);
    if (event === 'silent')
      return (await this.#silentMs(job, facts.settings)) >= (hook.silentMs ?? Number.POSITIVE_INFINITY);
    facts.usual ??= this.#parts.store.jobs.insight({ kind: 'statistics', queue: job.queue }).then(usualRun);
    return expectationOf(job, await facts.usual, Date.now()).isSlow;
  }

  /** Returns -1 when this node cannot tell. A paused job is silent on purpose. */
  async #silentMs(job: RunningJob, { script }: QueueSettings): Promise<number> {
    const { lease, progress } = job;
    const outputAt = await this.#parts.outputAt(job);
    const isElsewhere = outputAt === null && this.#parts.store.isShared && script !== null;
    if (isElsewhere || lease.pauseAskedAt !== null) return -1;
    return Date.now() - Math.max(lease.claimedAt, lease.startedAt ?? 0, progress?.at ?? 0, outputAt ?? 0);
  }

  /** Adds the job first: with the record first, a crash between them would lose the call. */
  async #add(job: NewJob): Promise<void> {
    const { jobs, records } = this.#parts.store;
    if ((await records.get(REPORTED_RECORD, job.id)) !== null) return;
    const [answer] = await jobs.add([job]);
    if (answer?.ok !== true) throw new Error(`a webhook could not be added: ${answer?.refusal.message}`);
    await records.put({ kind: REPORTED_RECORD, key: job.id, value: 'true', expiresAt: Date.now() + RECORD_MS });
  }
}
