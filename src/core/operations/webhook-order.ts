/**
 * Keeps the order of webhook calls when a call leaves its line before its turn.
 *
 * The calls about one job to one address wait one behind another (outbox.ts), and the last of them holds the unique key of
 * the line. A call that is cancelled or deleted while it waits hands its place on: the call behind it then waits for the call
 * in front of it, and so does a call that is added later.
 */

import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import { plus, ruleOf } from '../lifecycle/dependencies.ts';
import { keyAddress } from '../lifecycle/lifecycle.ts';
import type { Table } from '../ports/table.ts';
import { HOOKS_QUEUE } from '../webhooks/webhook.ts';
import { joined, waitFor } from './dependents.ts';

/** Returns the call that this call waits for in its line, if there is one. */
export function callInFront(table: Table, call: Job): Job | undefined {
  if (call.queue !== HOOKS_QUEUE || call.unique === null || (call.parents?.open ?? 0) === 0) return undefined;
  return table.openParents(call).find((parent) => isInLine(parent, call));
}

function isInLine(other: Job, call: Job): boolean {
  return other.queue === call.queue && !isEnded(other.state) && lineOf(other) === lineOf(call);
}

function lineOf({ queue, unique }: Job): string | null {
  return unique === null ? null : keyAddress(unique, queue);
}

/** Hands on the place of a call that is cancelled or deleted. `front`: the call that it waited for before that. */
export function handPlaceOn(table: Table, call: Job, front: Job | undefined, now: number): void {
  if (front === undefined || call.unique === null) return;
  const behind = call.dependents === 0 ? [] : table.openChildren(call).filter((child) => isInLine(child, call));
  for (const child of behind) waitForInstead(table, child, { call, front }, now);
  const left = table.get(call.id);
  if (left !== undefined && behind.length > 0)
    table.replace(left, { ...left, dependents: left.dependents - behind.length }, null);
  const address = keyAddress(call.unique, call.queue);
  if (table.keyHolder(address, now) === undefined) table.takeKey(address, front.id, null);
}

function waitForInstead(table: Table, child: Job, { call, front }: { call: Job; front: Job }, now: number): void {
  const left = { ...child, parents: plus(child.parents, { of: 0, open: -1, bad: 0 }) };
  const { parents, taken } = joined(table, left, [front], ruleOf(child, table.settings(child.queue)));
  const next = { ...child, parents };
  table.replace(child, next, null);
  table.setEdge(call, child, 'closed');
  waitFor(table, next, taken, now);
}
