/**
 * What a job of qless has been through: a list of packed events, `[time, what, more]`, or in older versions a JSON list of
 * stages in the job itself. Pure; what it cannot read it leaves out.
 */
import { jsonOf } from './foreign-job.ts';
import { readMsgpack } from './read-msgpack.ts';

export interface QlessPast {
  /** The last queue that it was put in. */
  readonly queue: string | null;
  /** When it was first put. */
  readonly putAt: number | null;
  /** How often it was taken. */
  readonly popped: number;
}

interface Happening {
  readonly what: string;
  readonly at: number;
  readonly queue: string | null;
}

export function pastOf(json: string | undefined, packed: readonly Uint8Array[]): QlessPast {
  const rows = packed.flatMap((bytes) => happeningIn(readMsgpack(bytes)));
  const all = rows.length > 0 ? rows : stagesIn(jsonOf(json)).flatMap(happeningsOf);
  const first = all.find(({ what }) => what === 'put');
  return {
    queue: all.findLast(({ queue }) => queue !== null)?.queue ?? null,
    putAt: first === undefined ? null : Math.round(first.at * 1_000),
    popped: all.filter(({ what }) => what === 'popped').length,
  };
}

function happeningIn(row: unknown): readonly Happening[] {
  if (!Array.isArray(row)) return [];
  const [at, what, more] = row as readonly unknown[];
  if (typeof at !== 'number' || typeof what !== 'string') return [];
  const { q } = (typeof more === 'object' && more !== null ? more : {}) as { q?: unknown };
  return [{ what, at, queue: typeof q === 'string' ? q : null }];
}

interface Stage {
  readonly q?: string;
  readonly put?: number;
  readonly popped?: number;
}

const stagesIn = (value: unknown): readonly Stage[] => (Array.isArray(value) ? (value as readonly Stage[]) : []);

function happeningsOf({ q, put, popped }: Stage): readonly Happening[] {
  return [
    { what: 'put', at: put ?? 0, queue: q ?? null },
    ...(popped === undefined ? [] : [{ what: 'popped', at: popped, queue: q ?? null }]),
  ];
}
