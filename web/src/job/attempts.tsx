/** The attempts of a job: how each ended, how long it took and what it used, and which script it really was. */

import type { AttemptView, PlacedAttempt } from '../../../src/wire/attempt-view.ts';
import { bytes, span } from '../../../src/wire/spans.ts';
import { comparePath } from '../compare/run.ts';
import { setQuery } from '../data/address.ts';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Since, When } from '../ui/when.tsx';

const RIGHT = 'text-right';
const HEADS = [
  'Attempt',
  'Ended as',
  'Exit',
  { text: 'Took', class: RIGHT },
  { text: 'CPU', class: RIGHT },
  { text: 'Peak memory', class: RIGHT },
  'Began',
  'Script',
  'Note',
  'Compare',
];

interface AttemptsProps {
  readonly id: string;
  readonly attempts: readonly PlacedAttempt[];
  /** The number of the one whose log is shown. */
  readonly shown: number;
}

export function Attempts({ id, attempts, shown }: AttemptsProps) {
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts" class="mb-2 font-semibold">
        Attempts
      </h2>
      <Table caption="Attempts" heads={HEADS}>
        {[...attempts].reverse().map((each) => (
          <Row key={each.attempt} {...{ id }} attempt={each} isShown={each.attempt === shown} />
        ))}
      </Table>
    </section>
  );
}

function Row({ id, attempt, isShown }: { id: string; attempt: PlacedAttempt; isShown: boolean }) {
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
      <Cell class="numbers">{exitWords(attempt)}</Cell>
      <Cell class="numbers text-right whitespace-nowrap">
        <Took attempt={attempt} />
      </Cell>
      <Cell class="numbers text-right whitespace-nowrap">{usage === null ? '–' : span(usage.cpuSeconds * 1_000)}</Cell>
      <Cell class="numbers text-right whitespace-nowrap">
        {usage === null || usage.peakRssBytes === 0 ? '–' : bytes(usage.peakRssBytes)}
      </Cell>
      <Cell>
        <When at={attempt.claimedAt} />
      </Cell>
      <Cell class="max-w-72">
        <div class="truncate font-mono text-xs" title={script?.realScript ?? ''}>
          {script?.realScript ?? '–'}
        </div>
      </Cell>
      <Cell class="max-w-md min-w-56 break-words">
        {attempt.note ?? end?.stopped.words ?? ''}
        <HeldBy attempt={attempt} />
        {attempt.logGaps.length > 0 && <div class="text-warn">the disk was full: output may be missing in its log</div>}
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

/** Of one whose node is not there. What this node has of it, itself or as a copy, needs no word. */
function HeldBy({ attempt: { node, script } }: { attempt: PlacedAttempt }) {
  if (node === null || script !== null || (node.name !== null && node.goneAt === null)) return null;
  return (
    <div class="text-warn">
      {node.name === null ? 'held by a node that was forgotten' : `held by node ${node.name}, gone since `}
      {node.goneAt !== null && <When at={node.goneAt} />}
    </div>
  );
}

function exitWords({ end }: AttemptView): string {
  if (end == null) return '–';
  if (end.oom === 'likely') return 'likely out of memory';
  return end.signal ?? (end.exit === null ? 'lost' : String(end.exit));
}

function Took({ attempt: { end, claimedAt, endedAt, isRunning } }: { attempt: AttemptView }) {
  if (end != null) return <>{span(end.wallMs)}</>;
  if (claimedAt === null) return <>–</>;
  return isRunning ? <Since at={claimedAt} /> : <>{endedAt === null ? '–' : span(endedAt - claimedAt)}</>;
}
