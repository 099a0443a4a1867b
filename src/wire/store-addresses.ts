/** The paths of the store ports over HTTP, for the server and for the HTTP store. */
import type { CallName } from '../core/operations/perform.ts';
import type { RecordCallName } from './record-checks.ts';

export const EVENTS_ADDRESS = '/api/store/events';

export function callAddress(name: CallName): string {
  return `/api/store/${name}`;
}

export function recordAddress(name: RecordCallName): string {
  return `/api/store/records/${name}`;
}

export function logAddress(name: 'append' | 'read'): string {
  return `/api/store/logs/${name}`;
}
