/** Claims, alone or together with settlements. */
import type { ClaimRequest, ClaimResult, Settlement, SettleResult } from '../../../core/ports/job-store.ts';
import { readAnyJobs } from '../encoding/job-record.ts';
import { escapeText } from '../encoding/layout.ts';
import { readEach, readTarget } from './answers.ts';
import type { Batch } from './batcher.ts';
import { settleArguments } from './requests.ts';
import { listOf, type ScriptRunner } from './script-runner.ts';

export async function claim(scripts: ScriptRunner, request: ClaimRequest, now?: number): Promise<ClaimResult> {
  const answer = await scripts.run('claim', claimArguments(request), now, request.queues);
  return readClaim(scripts, listOf(answer), now);
}

/** Sends the settlements and the claim in one call: a worker sends both in one turn of the event loop. */
export async function settleAndClaim(
  scripts: ScriptRunner,
  settlements: Batch<Settlement, SettleResult>,
  request: ClaimRequest,
): Promise<ClaimResult> {
  try {
    const outcomes = settleArguments(settlements.items);
    const args = [String(outcomes.length), ...outcomes, ...claimArguments(request)];
    const [settled = '', ...claimed] = listOf(await scripts.run('settle-claim', args, undefined, request.queues));
    settlements.answer(readEach(settlements.items, settled, readTarget));
    return await readClaim(scripts, claimed);
  } catch (error) {
    settlements.reject(error);
    throw error;
  }
}

function claimArguments({ worker, queues, limit, leaseMs, requestId, offers }: ClaimRequest): string[] {
  const capacity = offers === undefined ? '' : ` ${offers.whole} ${offers.free}`;
  return [escapeText(worker), escapeText(requestId), String(limit), `${leaseMs ?? ''}${capacity}`, ...queues];
}

/** A job whose data was damaged in the store cannot run: it fails, and the others are returned. */
async function readClaim(scripts: ScriptRunner, answer: readonly string[], now?: number): Promise<ClaimResult> {
  const [claimedAt = '', nextAt = ''] = answer;
  const { jobs, damaged } = readAnyJobs(answer, 2);
  if (damaged.length === 0) return { jobs, now: Number(claimedAt), nextAt: nextAt === '' ? null : Number(nextAt) };
  const failure = { group: 'data-corrupt', message: 'its data is not what was added', detail: null };
  const failed = damaged.map(
    ({ id, lease }): Settlement => ({ id, token: lease?.token ?? 0, kind: 'fail', failure, delayMs: 0, final: true }),
  );
  await scripts.run('settle', settleArguments(failed), now);
  // There may be others behind those that failed, and the worker has room for them.
  return { jobs, now: Number(claimedAt), nextAt: Number(claimedAt) + 1 };
}
