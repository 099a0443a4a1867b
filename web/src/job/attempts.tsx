/** The attempts of a job: outcome, exit status, duration, resource use and script. */

import type { AttemptView, LocatedAttempt } from '../../../src/wire/attempt-view.ts';
import { bytes, span } from '../../../src/wire/spans.ts';
import { comparePath } from '../compare/run.ts';
import { setQuery } from '../data/location.ts';
import { Link } from '../ui/link.tsx';
import { Elapsed, RelativeTime } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';

const RIGHT = 'text-right';
const HEADS = [
  'Attempt',
  'Outcome',
  'Exit',
  { text: 'Duration', class: RIGHT },
  { text: 'CPU', class: RIGHT },
  { text: 'Peak memory', class: RIGHT },
  'Started',
  'Script',
  'Note',
  'Compare',
];

interface AttemptsProps {
  readonly id: string;
  readonly attempts: readonly LocatedAttempt[];
  /** The number of the attempt whose log is shown. */
  readonly shown: number;
}

export function Attempts({ id, attempts, shown }: AttemptsProps) {
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts" class="mb-2 font-semibold">
        Attempts
      </h2>
      <Table caption="Attempts" stacks heads={HEADS}>
        {[...attempts].reverse().map((each) => (
          <Row key={each.attempt} {...{ id }} attempt={each} isShown={each.attempt === shown} />
        ))}
      </Table>
    </section>
  );
}

function Row({ id, attempt, isShown }: { id: string; attempt: LocatedAttempt; isShown: boolean }) {
  const { end, usage, script } = attempt;
  return (
    <tr class={isShown ? 'bg-accent-ground' : ''}>
      <Cell>
        <button
          type="button"
          class="link numbers"
          aria-pressed={isShown}
          onClick={() => setQuery({ attempt: String(attempt.attempt) })}
        >
          {attempt.attempt}
        </button>
      </Cell>
      <Cell>{attempt.isRunning ? 'running' : (attempt.outcome ?? '–')}</Cell>
      <Cell class="numbers">{exitText(attempt)}</Cell>
      <Cell class="numbers text-right whitespace-nowrap">
        <Duration attempt={attempt} />
      </Cell>
      <Cell class="numbers text-right whitespace-nowrap">{usage === null ? '–' : span(usage.cpuSeconds * 1_000)}</Cell>
      <Cell class="numbers text-right whitespace-nowrap">
        {usage === null || usage.peakRssBytes === 0 ? '–' : bytes(usage.peakRssBytes)}
      </Cell>
      <Cell>
        <RelativeTime at={attempt.claimedAt} />
      </Cell>
      <Cell class="max-w-72">
        <div class="truncate font-mono text-xs" title={script?.realScript ?? ''}>
          {script?.realScript ?? '–'}
        </div>
      </Cell>
      <Cell class="max-w-md min-w-56 break-words">
        {attempt.note ?? end?.stopped.words ?? ''}
        <MissingNode attempt={attempt} />
        {attempt.logGaps.length > 0 && (
          <div class="text-warn">output was lost for a while: the log may be incomplete</div>
        )}
      </Cell>
      <Cell class="whitespace-nowrap">
        {attempt.attempt > 1 && (
          <Link to={comparePath({ id, attempt: attempt.attempt - 1 }, { id, attempt: attempt.attempt })} class="link">
            with {attempt.attempt - 1}
          </Link>
        )}
      </Cell>
    </tr>
  );
}

/** A notice that the files of an attempt are on a node that is gone. */
function MissingNode({ attempt: { node, script } }: { attempt: LocatedAttempt }) {
  if (node === null || script !== null || (node.name !== null && node.goneAt === null)) return null;
  return (
    <div class="text-warn">
      {node.name === null ? 'stored on a node that was removed' : `stored on node ${node.name}, gone since `}
      {node.goneAt !== null && <RelativeTime at={node.goneAt} />}
    </div>
  );
}

function exitText({ end }: AttemptView): string {
  if (end == null) return '–';
  if (end.oom === 'limit') return 'out of memory: limit exceeded';
  if (end.oom === 'likely') return 'likely out of memory';
  return end.signal ?? (end.exit === null ? 'lost' : String(end.exit));
}

/** The run time by the history, as in the timeline, without the times in which the attempt was suspended. */
function Duration({ attempt: { resumedAt, ranMs, endedAt, isRunning } }: { attempt: AttemptView }) {
  if (resumedAt === null) return <>–</>;
  return isRunning ? <Elapsed at={resumedAt - ranMs} /> : <>{endedAt === null ? '–' : span(ranMs)}</>;
}
