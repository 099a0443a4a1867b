/**
 * The id that a relayed job has at its destination: chosen here, always the same for the same job of the same store, so
 * that every step can be repeated, and never that of another store's job.
 */
import { createHash } from 'node:crypto';

const MOST = 128;
const STORE_DIGITS = 12;

export function relayId(id: string, store: string): string {
  const mark = createHash('sha256').update(store).digest('hex').slice(0, STORE_DIGITS);
  const whole = `${id}~${mark}`;
  if (whole.length <= MOST) return whole;
  // After many hops, or with an id of its producer's own: as good as unique, and of a length that can grow no more.
  return `${createHash('sha256').update(whole).digest('hex')}~${mark}`;
}
