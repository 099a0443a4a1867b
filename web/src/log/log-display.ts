/** Display options of a log: line wrapping and timestamps. */
import { localIso, span } from '../../../src/wire/spans.ts';
import type { LogLines } from './log-lines.ts';

export const TIMES = ['no timestamps', 'time of day', 'since start', 'since previous line'] as const;
export type Times = (typeof TIMES)[number];

export interface LogDisplay {
  readonly isWrapped: boolean;
  readonly times: Times;
}

/** Returns the timestamp text; null if timestamps are off, '' if unknown. */
export function timeOf(log: LogLines, number: number, times: Times): string | null {
  if (times === 'no timestamps') return null;
  const at = log.at(number)?.at;
  if (at == null) return '';
  if (times === 'time of day') return localIso(at).slice(11);
  const before = log.at(times === 'since start' ? 1 : Math.max(1, number - 1))?.at;
  return before == null ? '' : `+${span(Math.max(0, at - before))}`;
}
