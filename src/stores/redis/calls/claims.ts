/** Claims: what is asked, what comes back, and what travels along. */
import type { ClaimRequest, ClaimResult, Settlement, SettleResult } from '../../../core/ports/job-store.ts';
import { readAnyJobs } from '../encoding/job-record.ts';
import { escapeText } from '../encoding/layout.ts';
import * as answers from './answers.ts';
import type { Batcher } from './batcher.ts';
import * as requests from './requests.ts';
import { type Ask, listOf } from './script-runner.ts';

/** A worker settles and claims in one turn. What it settles then travels with the claim, in one call. */
export async function claimAlong(
  ask: Ask,
  settles: Batcher<Settlement, SettleResult>,
  request: ClaimRequest,
): Promise<ClaimResult> {
  const along = settles.takeWaiting();
  if (along === null) return claim(ask, request);
  try {
    const said = requests.settleArguments(along.items);
    const answer = listOf(await ask('settle-claim', [String(said.length), ...said, ...claimArguments(request)]));
    along.answer(answers.readEach(along.items, answer[0] ?? '', answers.readTarget));
    return await readClaim(ask, answer, 1);
  } catch (error) {
    along.reject(error);
    throw error;
  }
}

export async function claim(ask: Ask, request: ClaimRequest): Promise<ClaimResult> {
  return readClaim(ask, listOf(await ask('claim', claimArguments(request))), 0);
}

function claimArguments({ worker, queues, limit, leaseMs, requestId, offers }: ClaimRequest): string[] {
  const units = offers === undefined ? '' : ` ${offers.whole} ${offers.free}`;
  const length = `${leaseMs ?? ''}${units}`;
  return [escapeText(worker), escapeText(requestId), String(limit), length, ...queues];
}

/** A job whose data was damaged in the store is no work for anybody: it fails, and the others go out. */
async function readClaim(ask: Ask, answer: readonly string[], from: number): Promise<ClaimResult> {
  const [now = '', nextAt = ''] = [answer[from], answer[from + 1]];
  const { jobs, damaged } = readAnyJobs(answer, from + 2);
  const failure = { group: 'data-corrupt', message: 'its data is not what was added', detail: null };
  const failed = damaged.map(
    ({ id, lease }): Settlement => ({ id, token: lease?.token ?? 0, kind: 'fail', failure, delayMs: 0, final: true }),
  );
  if (failed.length > 0) await ask('settle', requests.settleArguments(failed));
  // There may be others behind those that failed, and the worker has room for them.
  if (failed.length > 0) return { jobs, now: Number(now), nextAt: Number(now) + 1 };
  return { jobs, now: Number(now), nextAt: nextAt === '' ? null : Number(nextAt) };
}
