/** The steps of a job: work that is done once, sleeps, and waits for events and other jobs. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { StepView } from '../../../src/wire/steps/step-view.ts';
import { endOfStep, stepProgress } from '../../../src/wire/steps/step-view.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import type { Tone } from '../ui/chip.tsx';
import { Chip } from '../ui/chip.tsx';
import { localTime } from '../ui/local-times.ts';
import { Elapsed, RelativeTime, useNow } from '../ui/relative-time.tsx';
import { shortDuration } from '../ui/short-duration.ts';
import { Cell, Table } from '../ui/table.tsx';

/** Fetches the steps; again with each step that the job keeps. */
export function useSteps({ id, steps }: JobView): readonly StepView[] {
  const path = steps === null ? null : `api/jobs/${encodeURIComponent(id)}/steps`;
  const { data } = useQuery<{ steps: readonly StepView[] }>(path, {
    concerns: (event) => event.type !== 'queue' && event.id === id,
  });
  return data?.steps ?? [];
}

const HEADS = [
  'Step',
  { text: 'Kind', class: 'max-sm:hidden' },
  'Status',
  { text: 'Attempts', class: 'text-right max-sm:hidden' },
  { text: 'Started', class: 'max-sm:hidden' },
  { text: 'Duration', class: 'text-right max-sm:hidden' },
  'Result',
];
/** Of a job with more steps, only the last ones are shown at first. */
const SHOWN = 100;

export function Steps({ job, steps }: { job: JobView; steps: readonly StepView[] }) {
  const [isAll, setAll] = useState(false);
  const hidden = isAll ? 0 : Math.max(0, steps.length - SHOWN);
  if (steps.length === 0) return null;
  return (
    <section aria-labelledby="steps">
      <h2 id="steps" class="mb-2 flex items-center gap-3 font-semibold">
        Steps
        {hidden > 0 && <Button onClick={() => setAll(true)}>Show {hidden} earlier steps</Button>}
      </h2>
      <Table caption="Steps" stacks heads={HEADS}>
        {steps.slice(hidden).map((step) => (
          <Row key={step.number} step={step} isOver={job.endedAt !== null} />
        ))}
      </Table>
    </section>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  done: 'good',
  arrived: 'accent',
  failed: 'bad',
  'timed out': 'bad',
  sleeping: 'later',
  waiting: 'warn',
};

function Row({ step, isOver }: { step: StepView; isOver: boolean }) {
  const now = useNow();
  const progress = stepProgress(step, { now, isOver });
  const end = endOfStep(step, now);
  return (
    <tr>
      <Cell class="max-w-60 font-medium break-words">{step.name}</Cell>
      <Cell class="text-soft max-sm:hidden">{step.kind}</Cell>
      <Cell>
        <Chip tone={TONES[progress] ?? 'calm'} text={progress} />
      </Cell>
      <Cell class="numbers text-right max-sm:hidden">{step.attempts === 0 ? '' : step.attempts}</Cell>
      <Cell class="max-sm:hidden">
        <RelativeTime at={step.startedAt} />
      </Cell>
      <Cell class="numbers text-right whitespace-nowrap max-sm:hidden">
        {end !== null ? shortDuration(end - step.startedAt) : isOver ? '–' : <Elapsed at={step.startedAt} />}
      </Cell>
      <Cell class="max-w-xl min-w-32">
        <Result step={step} now={now} isOpen={end === null && !isOver} />
      </Cell>
    </tr>
  );
}

const SHORT = 100;

function Result({ step, now, isOpen }: { step: StepView; now: number; isOpen: boolean }) {
  const { until, result, failure } = step;
  if (failure !== null) return <span class="break-words text-bad">{failure}</span>;
  if (isOpen) return <span class="text-soft">{until === null ? 'no timeout' : `until ${localTime(until, now)}`}</span>;
  if (result === null) return null;
  const text = JSON.stringify(result);
  if (text.length <= SHORT) return <code class="font-mono text-[13px] break-all">{text}</code>;
  return (
    <details>
      <summary class="cursor-pointer font-mono text-[13px] break-all">{text.slice(0, SHORT)} …</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <pre
        class="mt-1 max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px] whitespace-pre-wrap break-all"
        tabIndex={0}
      >
        {JSON.stringify(result, null, 2)}
      </pre>
    </details>
  );
}
