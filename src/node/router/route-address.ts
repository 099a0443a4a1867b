/**
 * A place in a rule, as the address of a queue: a host gets RQ's port and the queue that the job is for, a full address
 * takes the place of the destination, `/q/name` is a queue of this node. Pure.
 */
import { parseDestination } from '../../core/job/relay-request.ts';

const DEFAULT_PORT = 3333;
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/;
const BASE = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/i;
const LOCAL = /^\/q\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Null: it is no place. `queue` is that of the job's own destination. */
export function parseRoute(place: string, queue: string): string | null {
  if (LOCAL.test(place) || parseDestination(place) !== null) return place;
  if (BASE.test(place) && !/\/q\//.test(place)) return `${place.replace(/\/$/, '')}/q/${queue}`;
  if (!HOST.test(place)) return null;
  return `http://${place.includes(':') ? place : `${place}:${DEFAULT_PORT}`}/q/${queue}`;
}
