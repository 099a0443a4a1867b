/** How a log is looked at: with lines wrapped or not, and with which times. */
import { localIso, span } from '../../../src/wire/spans.ts';
import type { LogLines } from './log-lines.ts';

export const TIMES = ['no times', 'time of day', 'since the first', 'since the one before'] as const;
export type Times = (typeof TIMES)[number];

export interface LogLook {
  readonly isWrapped: boolean;
  readonly times: Times;
}

/** Null where no times are shown; '' where it is not known. */
export function timeOf(log: LogLines, number: number, times: Times): string | null {
  if (times === 'no times') return null;
  const at = log.at(number)?.at;
  if (at == null) return '';
  if (times === 'time of day') return localIso(at).slice(11);
  const before = log.at(times === 'since the first' ? 1 : Math.max(1, number - 1))?.at;
  return before == null ? '' : `+${span(Math.max(0, at - before))}`;
}
