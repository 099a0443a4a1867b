/** Reads the answers about throttles and wait reasons. */

import { byText } from '../../../core/input/text-order.ts';
import { readBucket } from '../../../core/limits/bucket.ts';
import type { WaitReason } from '../../../core/limits/throttle.ts';
import type { ThrottleUse } from '../../../core/ports/insight.ts';
import { FIELD, PART, unescapeText } from '../encoding/layout.ts';
import { linesOf } from './answers.ts';
import type { ScriptAnswer } from './script-runner.ts';

export function readThrottles(answer: ScriptAnswer): ThrottleUse[] {
  const uses = linesOf(answer, PART).map((line) => {
    const [address = '', max = '', held = '', waiting = '', nextStartAt = '', holders = ''] = line.split(FIELD);
    return {
      address: unescapeText(address),
      max: max === '' ? null : Number(max),
      held: Number(held),
      waiting: Number(waiting),
      nextStartAt: nextStartAt === '' ? null : Number(nextStartAt),
      holders: linesOf(holders, ' '),
    };
  });
  return uses.sort((a, b) => byText(a.address, b.address));
}

function throttleOf(bucket: string): { throttle: string; key?: string } {
  const { name, key } = readBucket(unescapeText(bucket));
  return { throttle: name, ...(key !== '' && { key }) };
}

export function readWaitReason(text: string): WaitReason | null {
  const [by = '', held = '', max = '', address = ''] = text.split(FIELD);
  if (by === 'needs') return { by, needs: held };
  if (by === 'rate') return { by, until: Number(held), ...(max !== '' && throttleOf(max)) };
  if (by === 'queue') return { by, held: Number(held), max: Number(max) };
  return by === 'throttle' ? { by, address: unescapeText(address), held: Number(held), max: Number(max) } : null;
}
