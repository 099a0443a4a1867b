/** Short texts about a job: label, progress, status, expected end. Pure. */
import type { Label } from '../../../core/job/label.ts';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { clockTime, span } from '../../../wire/spans.ts';
import type { Cell } from '../../output/columns.ts';
import type { Colour } from '../../output/screen.ts';
import { bar } from '../../output/screen.ts';

const COLOURS: Readonly<Record<Label, Colour | null>> = {
  draft: 'dim',
  blocked: 'blue',
  scheduled: 'blue',
  retrying: 'yellow',
  suspended: 'blue',
  paused: 'yellow',
  throttled: 'yellow',
  ready: null,
  starting: 'cyan',
  running: 'cyan',
  stalled: 'magenta',
  held: 'magenta',
  cancelling: 'yellow',
  done: 'green',
  relayed: 'green',
  failed: 'red',
  cancelled: 'dim',
};

export function labelCell({ label }: JobView): Cell {
  return { text: label, colour: COLOURS[label] };
}

const BAR = 5;

export function progressText({ state, progress }: JobView): string {
  if (state !== 'running' || progress?.percent === undefined || progress.percent === null) return '';
  return `${bar(progress.percent, BAR)} ${Math.floor(progress.percent)} %`;
}

/** Returns the progress text of a running job, otherwise the reason for the state. */
export function statusText({ state, progress, reason, label }: JobView): string {
  if (state === 'running') return progress?.text ?? (label === 'running' ? '' : reason);
  return state === 'done' && label === 'done' ? '' : reason;
}

export function elapsedMs({ lease }: JobView, now: number): number | null {
  return lease === null ? null : now - (lease.startedAt ?? lease.claimedAt);
}

export function expectedEndText(job: JobView, now: number): string {
  const at = expectedEnd(job);
  if (at === null) return 'unknown';
  return at <= now ? 'any moment' : `in about ${span(at - now)}, at ${clockTime(at, now)}`;
}
