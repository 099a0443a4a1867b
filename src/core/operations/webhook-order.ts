/**
 * Keeps the order of webhook calls when a call leaves its sequence before its turn.
 *
 * The calls about one job to one address wait for one another (outbox.ts), and the last of them holds the unique key of
 * the sequence. When a waiting call is cancelled or deleted, the call behind it waits for the call in front of it
 * instead, and so does a call that is added later.
 */

import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import { addCounts, ruleOf } from '../lifecycle/dependencies.ts';
import { keyAddress } from '../lifecycle/lifecycle.ts';
import type { Table } from '../ports/table.ts';
import { WEBHOOKS_QUEUE } from '../webhooks/webhook.ts';
import { waitFor, withParents } from './dependents.ts';

/** Returns the call that this call waits for in its sequence, if there is one. */
export function precedingCall(table: Table, call: Job): Job | undefined {
  if (call.queue !== WEBHOOKS_QUEUE || call.unique === null || (call.parents?.open ?? 0) === 0) return undefined;
  return table.openParents(call).find((parent) => isSameSequence(parent, call));
}

function isSameSequence(other: Job, call: Job): boolean {
  return other.queue === call.queue && !isEnded(other.state) && sequenceOf(other) === sequenceOf(call);
}

function sequenceOf({ queue, unique }: Job): string | null {
  return unique === null ? null : keyAddress(unique, queue);
}

/** Hands on the position of a call that is cancelled or deleted. `front`: the call that it waited for. */
export function handOverPosition(table: Table, call: Job, front: Job | undefined, now: number): void {
  if (front === undefined || call.unique === null) return;
  const behind = call.dependents === 0 ? [] : table.openChildren(call).filter((child) => isSameSequence(child, call));
  for (const child of behind) waitForInstead(table, child, { call, front }, now);
  const left = table.get(call.id);
  if (left !== undefined && behind.length > 0)
    table.replace(left, { ...left, dependents: left.dependents - behind.length }, null);
  const address = keyAddress(call.unique, call.queue);
  if (table.keyHolder(address, now) === undefined) table.takeKey(address, front.id, null);
}

function waitForInstead(table: Table, child: Job, { call, front }: { call: Job; front: Job }, now: number): void {
  const left = { ...child, parents: addCounts(child.parents, { of: 0, open: -1, bad: 0 }) };
  const { parents, taken } = withParents(table, left, [front], ruleOf(child, table.settings(child.queue)));
  const next = { ...child, parents };
  table.replace(child, next, null);
  table.setEdge(call, child, 'closed');
  waitFor(table, next, taken, now);
}
