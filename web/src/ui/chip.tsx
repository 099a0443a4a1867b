/** A job's label, a queue's state or another short status as a coloured chip. The colour only repeats the text. */
import type { Label } from '../../../src/core/job/label.ts';
import { NO_WORKER } from '../../../src/core/limits/without-worker.ts';
import type { QueueState } from '../../../src/core/settings/settings.ts';
import { useHasNoWorker } from '../data/overview.ts';

export type Tone = 'accent' | 'good' | 'bad' | 'warn' | 'later' | 'calm';

export const TONES: Readonly<Record<Label | QueueState, Tone>> = {
  draft: 'calm',
  blocked: 'later',
  throttled: 'later',
  scheduled: 'later',
  retrying: 'warn',
  suspended: 'later',
  paused: 'warn',
  ready: 'calm',
  starting: 'accent',
  running: 'accent',
  stalled: 'bad',
  held: 'warn',
  cancelling: 'warn',
  done: 'good',
  relayed: 'good',
  failed: 'bad',
  cancelled: 'calm',
  up: 'good',
  down: 'bad',
  deleted: 'calm',
};

const CLASSES: Readonly<Record<Tone, string>> = {
  accent: 'bg-accent-ground text-accent',
  good: 'bg-good-ground text-good',
  bad: 'bg-bad-ground text-bad',
  warn: 'bg-warn-ground text-warn',
  later: 'bg-later-ground text-later',
  calm: 'bg-calm-ground text-calm',
};

/** Labels of jobs in the state `waiting`, except `ready`, which needs no explanation. */
const WAITING: ReadonlySet<Label> = new Set(['blocked', 'throttled', 'scheduled', 'retrying', 'suspended', 'paused']);

interface JobChipProps {
  readonly label: Label;
  /** Given where a queue without any worker is the reason to wait. */
  readonly queue?: string;
  readonly title?: string | undefined;
}

/** The label of a job; a waiting job shows its wait reason beside the state. */
export function JobChip({ label, queue, title }: JobChipProps) {
  const hasNoWorker = useHasNoWorker(queue) && queue !== undefined;
  if (hasNoWorker && label === 'ready') return <Chip tone="warn" text="waiting · no worker" title={NO_WORKER} />;
  const text = WAITING.has(label) ? `waiting · ${label}` : label === 'ready' ? 'waiting' : label;
  return <Chip tone={TONES[label]} text={text} title={title} />;
}

interface QueueChipProps {
  readonly state: QueueState;
  readonly isWithoutWorker?: boolean | undefined;
  readonly title?: string | undefined;
}

/** The state of a queue. */
export function QueueChip({ state, isWithoutWorker = false, title }: QueueChipProps) {
  if (isWithoutWorker) return <Chip tone="warn" text="no worker" title={NO_WORKER} />;
  return <Chip tone={TONES[state]} text={state === 'down' ? 'disabled' : state} title={title} />;
}

export function Chip({ tone, text, title }: { tone: Tone; text: string; title?: string | undefined }) {
  return (
    <span
      class={`inline-block rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${CLASSES[tone]}`}
      title={title}
    >
      {text}
    </span>
  );
}
