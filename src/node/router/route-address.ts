/**
 * Converts a route of a rule to a queue address. A host gets RQ's port and the job's queue; a full address replaces the
 * destination; `/q/name` is a queue of this node. Pure.
 */
import { parseDestination } from '../../core/job/relay-request.ts';

const DEFAULT_PORT = 3333;
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/;
const BASE = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/i;
const LOCAL = /^\/q\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Returns null for an invalid route. `queue` is the queue of the job's own destination. */
export function parseRoute(route: string, queue: string): string | null {
  if (LOCAL.test(route) || parseDestination(route) !== null) return route;
  if (BASE.test(route) && !/\/q\//.test(route)) return `${route.replace(/\/$/, '')}/q/${queue}`;
  if (!HOST.test(route)) return null;
  return `http://${route.includes(':') ? route : `${route}:${DEFAULT_PORT}`}/q/${queue}`;
}
