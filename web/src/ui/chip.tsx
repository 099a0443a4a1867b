/** A job's label or a queue's state in one coloured word. The colour repeats the word; it never says more. */
import type { Label } from '../../../src/core/job/label.ts';
import type { QueueState } from '../../../src/core/settings/settings.ts';

type Tone = 'accent' | 'good' | 'bad' | 'warn' | 'later' | 'calm';

export const TONES: Readonly<Record<Label | QueueState, Tone>> = {
  draft: 'calm',
  blocked: 'later',
  throttled: 'later',
  scheduled: 'later',
  retrying: 'warn',
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

export function Chip({ word, title }: { word: Label | QueueState; title?: string | undefined }) {
  return (
    <span
      class={`inline-block rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${CLASSES[TONES[word]]}`}
      title={title}
    >
      {word}
    </span>
  );
}
