/** Whether a job goes round in circles: back to the queue that it began in, or through too many hands. Pure. */

/** `place` is the address of a queue; an origin is the address of a job in one. */
export function isLoop(origin: string, place: string): boolean {
  return origin.startsWith(`${place.replace(/\/$/, '')}/`);
}

export function loopWords({ origin, hops, maxHops }: { origin: string; hops: number; maxHops: number }): string {
  if (hops > maxHops) return `relay loop detected: it was handed on ${hops} times, more than ${maxHops}`;
  return `relay loop detected: it began in the queue that it is for, as ${origin}`;
}
