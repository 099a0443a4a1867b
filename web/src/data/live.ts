/**
 * The event stream, shared by all components. An event only triggers a refetch; its content is never shown.
 * Components also poll, so a lost event delays an update by seconds at most.
 *
 * While the tab is hidden the stream is closed; when it becomes visible every component refetches once.
 */
import type { JobEvent, QueueEvent } from '../../../src/wire/job-event.ts';
import { addressOf } from './base.ts';

export type LiveEvent = JobEvent | QueueEvent;
export type Connection = 'connecting' | 'open' | 'away';
type Listener = (event: LiveEvent | null) => void;

const listeners = new Set<Listener>();
const watchers = new Set<(reach: Connection) => void>();
let source: EventSource | null = null;
let reach: Connection = 'connecting';

/** Registers a listener; it receives null when anything may have changed. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => void listeners.delete(listener);
}

export function watchConnection(watcher: (reach: Connection) => void): () => void {
  watchers.add(watcher);
  watcher(reach);
  return () => void watchers.delete(watcher);
}

/** Sets the connection state; also called after each API call. */
export function setConnection(next: Connection): void {
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
  notifyAll(null);
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
    setConnection('open');
    if (wasAway) notifyAll(null);
  });
  source.addEventListener('error', () => setConnection('away'));
  source.addEventListener('reset', () => notifyAll(null));
  const onEvent = (message: MessageEvent<string>) => notifyAll(JSON.parse(message.data) as LiveEvent);
  source.addEventListener('job', onEvent);
  source.addEventListener('queue', onEvent);
}

function notifyAll(event: LiveEvent | null): void {
  for (const listener of listeners) listener(event);
}
