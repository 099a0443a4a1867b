/** Detects relay loops: back to the queue of origin, or too many hops. Pure. */

/** The begin of the message for a job that would return to the queue of its origin. */
export const LOOP_TO_ORIGIN = 'relay loop detected: its destination is the queue of its origin';

/** `queue` is the address of a queue; an origin is the address of a job in one. */
export function isLoop(origin: string, queue: string): boolean {
  return origin.startsWith(`${queue.replace(/\/$/, '')}/`);
}

export function loopMessage({ origin, hops, maxHops }: { origin: string; hops: number; maxHops: number }): string {
  if (hops > maxHops) return `relay loop detected: it was relayed ${hops} times, more than ${maxHops}`;
  return `${LOOP_TO_ORIGIN}, ${origin}`;
}
