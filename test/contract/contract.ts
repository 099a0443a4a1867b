/**
 * The store contract: one suite that every store passes.
 *
 * A store's own test file opens a fresh, empty store; this suite does not know which store it has. Time is the caller's
 * throughout, so no test waits.
 */
import { describe } from 'vitest';
import type { ClockSource } from '../../src/core/lifecycle/clock.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { testSize } from '../support/test-size.ts';
import { addContract } from './add.ts';
import { cancelContract } from './cancel.ts';
import { changeContract } from './change.ts';
import { claimContract } from './claim.ts';
import { claimOrderContract } from './claim-order.ts';
import { clockContract } from './clock.ts';
import { coalesceContract } from './coalesce.ts';
import { deleteQueueContract } from './delete-queue.ts';
import { dependencyContract } from './dependencies.ts';
import { dependencyFailureContract } from './dependency-failures.ts';
import { draftContract } from './drafts.ts';
import { eventContract } from './events.ts';
import { globalSettingsContract } from './global-settings.ts';
import { heartbeatContract } from './heartbeat.ts';
import { historyContract } from './history.ts';
import { lifetimeContract } from './lifetime.ts';
import { limitContract } from './limits.ts';
import { listContract } from './lists.ts';
import { logContract, storedLogContract } from './logs.ts';
import { lossContract } from './loss.ts';
import { migrationContract } from './migration.ts';
import { moveContract } from './move.ts';
import { needContract } from './needs.ts';
import { overviewContract } from './overview.ts';
import { recordContract } from './records.ts';
import { requeueContract } from './requeue.ts';
import { retentionContract } from './retention.ts';
import { scheduleContract } from './schedules.ts';
import { seriesContract } from './series.ts';
import { settleContract } from './settle.ts';
import { staleTokenContract } from './stale-tokens.ts';
import { statisticsContract } from './statistics.ts';
import { statisticsLogContract } from './statistics-log.ts';
import { stepContract } from './steps.ts';
import { storageContract } from './storage.ts';
import { suspendContract } from './suspend.ts';
import { textContract } from './texts.ts';
import { throttleRateContract } from './throttle-rates.ts';
import { throttleContract } from './throttles.ts';
import { uniqueContract } from './unique.ts';
import { waitingClaimContract } from './waiting-claims.ts';
import { webhookContract } from './webhooks.ts';
import { openWorkbench, type Workbench } from './workbench.ts';
import { workerContract } from './workers.ts';

/** Opens a fresh, empty store. The suite closes it. */
export type OpenStore = (options: { readonly clock: ClockSource }) => Promise<Store>;

/** What a part of the contract gets: a store under test, closed when the test is over. */
export type Open = (clock?: ClockSource) => Promise<Workbench>;

const PARTS: Readonly<Record<string, (open: Open) => void>> = {
  adding: addContract,
  'texts and names': textContract,
  'claim order': claimOrderContract,
  claiming: claimContract,
  'waiting claims': waitingClaimContract,
  heartbeats: heartbeatContract,
  'lost leases': lossContract,
  settling: settleContract,
  'stale tokens': staleTokenContract,
  steps: stepContract,
  suspending: suspendContract,
  cancelling: cancelContract,
  requeueing: requeueContract,
  moving: moveContract,
  'store migration': migrationContract,
  'changing and deleting': changeContract,
  'deleting a queue': deleteQueueContract,
  'unique keys': uniqueContract,
  throttles: throttleContract,
  'rates of throttles': throttleRateContract,
  'limits of a queue': limitContract,
  'global settings': globalSettingsContract,
  coalescing: coalesceContract,
  resources: needContract,
  drafts: draftContract,
  dependencies: dependencyContract,
  'failed dependencies': dependencyFailureContract,
  webhooks: webhookContract,
  workers: workerContract,
  lists: listContract,
  'counts and failure groups': overviewContract,
  statistics: statisticsContract,
  'the log of statistics': statisticsLogContract,
  'throughput over time': seriesContract,
  history: historyContract,
  records: recordContract,
  'logs of handlers': logContract,
  'logs kept in the store': storedLogContract,
  storage: storageContract,
  retention: retentionContract,
  schedules: scheduleContract,
  'the clock': clockContract,
  events: eventContract,
  lifetime: lifetimeContract,
};

/** Leaves parts to `npm run test:all`, as `skipped`: at small size another suite proves the same, which the reason names. */
export function onlyAtFullSize(reason: string, isLeft: (part: string) => boolean): Readonly<Record<string, string>> {
  const left = Object.keys(PARTS).filter(isLeft);
  return testSize({ small: Object.fromEntries(left.map((part) => [part, reason])), full: {} });
}

/** The parts that make each kind of request, for stores that reach another tested store in another way. */
const EACH_REQUEST = new Set([
  'adding',
  'texts and names',
  'claiming',
  'heartbeats',
  'settling',
  'cancelling',
  'workers',
  'lists',
  'records',
  'logs of handlers',
  'logs kept in the store',
  'the clock',
  'events',
  'lifetime',
]);

/** Leaves all parts but those that make each kind of request to `npm run test:all`. */
export const eachRequest = (reason: string): Readonly<Record<string, string>> =>
  onlyAtFullSize(reason, (part) => !EACH_REQUEST.has(part));

/** `skipped`: parts that do not apply to this store, each with the reason. */
export function storeContract(name: string, open: OpenStore, skipped: Readonly<Record<string, string>> = {}): void {
  const unknown = Object.keys(skipped).filter((part) => PARTS[part] === undefined);
  if (unknown.length > 0) throw new Error(`the contract has no part ${unknown.join(', ')}`);
  const parts = Object.entries(PARTS).filter(([part]) => skipped[part] === undefined);
  describe.each([name])('%s', () => {
    describe.each(parts)('%s', (_part, contract) => {
      contract((clock = 'caller') => openWorkbench(open, clock));
    });
  });
}
