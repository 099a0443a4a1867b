/**
 * Reads the history of a qless job: a list of events `[time, event, details]`, each as JSON or as MessagePack, or in older
 * versions a JSON list of stages in the job itself. Pure; ignores events that it cannot read.
 */
import { parseJson } from './foreign-job.ts';
import { readMsgpack } from './read-msgpack.ts';

const BRACKET = 0x5b;

export interface QlessHistory {
  /** The last queue that the job was put into. */
  readonly queue: string | null;
  /** The time of the first put. */
  readonly putAt: number | null;
  /** The number of times that a worker popped the job. */
  readonly popped: number;
}

interface QlessEvent {
  readonly type: string;
  readonly at: number;
  readonly queue: string | null;
}

export function readHistory(json: string | undefined, packed: readonly Uint8Array[]): QlessHistory {
  const rows = packed.flatMap((bytes) => parseEvent(readRow(bytes)));
  const all = rows.length > 0 ? rows : stagesIn(parseJson(json)).flatMap(stageEvents);
  const first = all.find(({ type }) => type === 'put');
  return {
    queue: all.findLast(({ queue }) => queue !== null)?.queue ?? null,
    putAt: first === undefined ? null : Math.round(first.at * 1_000),
    popped: all.filter(({ type }) => type === 'popped').length,
  };
}

/** A row in JSON begins with a bracket, which is no list in MessagePack. */
function readRow(bytes: Uint8Array): unknown {
  return bytes[0] === BRACKET ? parseJson(new TextDecoder().decode(bytes)) : readMsgpack(bytes);
}

function parseEvent(row: unknown): readonly QlessEvent[] {
  if (!Array.isArray(row)) return [];
  const [at, type, details] = row as readonly unknown[];
  if (typeof at !== 'number' || typeof type !== 'string') return [];
  const { q } = (typeof details === 'object' && details !== null ? details : {}) as { q?: unknown };
  return [{ type, at, queue: typeof q === 'string' ? q : null }];
}

interface Stage {
  readonly q?: string;
  readonly put?: number;
  readonly popped?: number;
}

const stagesIn = (value: unknown): readonly Stage[] => (Array.isArray(value) ? (value as readonly Stage[]) : []);

function stageEvents({ q, put, popped }: Stage): readonly QlessEvent[] {
  return [
    { type: 'put', at: put ?? 0, queue: q ?? null },
    ...(popped === undefined ? [] : [{ type: 'popped', at: popped, queue: q ?? null }]),
  ];
}
