/**
 * One stream of events for the whole page. It tells listeners that something changed, never what the page should show:
 * they ask the node again. Polling is the net, so a lost event costs seconds, not truth.
 *
 * While the tab is hidden nothing is open; on return everybody asks once.
 */
import type { JobEvent, QueueEvent } from '../../../src/wire/job-event.ts';
import { addressOf } from './base.ts';

export type LiveEvent = JobEvent | QueueEvent;
export type Reach = 'connecting' | 'open' | 'away';
type Listener = (event: LiveEvent | null) => void;

const listeners = new Set<Listener>();
const watchers = new Set<(reach: Reach) => void>();
let source: EventSource | null = null;
let reach: Reach = 'connecting';

/** `listener` is told null when anything may have changed. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => void listeners.delete(listener);
}

export function watchReach(watcher: (reach: Reach) => void): () => void {
  watchers.add(watcher);
  watcher(reach);
  return () => void watchers.delete(watcher);
}

/** A call that was answered or not also tells whether the node is there. */
export function sayReach(next: Reach): void {
  if (next === reach) return;
  reach = next;
  for (const watcher of watchers) watcher(next);
}

function start(): void {
  open();
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : reopen()));
}

function reopen(): void {
  open();
  tellAll(null);
}

function close(): void {
  source?.close();
  source = null;
}

function open(): void {
  if (source !== null || document.hidden) return;
  source = new EventSource(addressOf('api/events'));
  source.addEventListener('open', () => {
    const wasAway = reach === 'away';
    sayReach('open');
    if (wasAway) tellAll(null);
  });
  source.addEventListener('error', () => sayReach('away'));
  source.addEventListener('reset', () => tellAll(null));
  const onEvent = (message: MessageEvent<string>) => tellAll(JSON.parse(message.data) as LiveEvent);
  source.addEventListener('job', onEvent);
  source.addEventListener('queue', onEvent);
}

function tellAll(event: LiveEvent | null): void {
  for (const listener of listeners) listener(event);
}
