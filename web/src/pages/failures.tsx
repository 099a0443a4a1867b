/** What went wrong, by kind: how often, since when, and everything of one kind run again at once. */
import { useState } from 'preact/hooks';
import type { FailureGroup } from '../../../src/core/ports/job-store.ts';
import { dayOf, dayText } from '../../../src/core/statistics/statistics.ts';
import { comparePath } from '../compare/run.ts';
import { jobPath, queuePath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { Question } from '../ui/question.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Still } from '../ui/still.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { useNow, When } from '../ui/when.tsx';

const HEADS = [
  'Group',
  'Queue',
  { text: 'Jobs', class: 'text-right' },
  { text: 'First', class: 'max-sm:hidden' },
  'Last',
  { text: 'Trend', class: 'max-sm:hidden' },
  { text: 'One of them', class: 'max-sm:hidden' },
  'All of them',
];

export function FailuresPage() {
  const { data, error, refresh } = useQuery<{ groups: readonly FailureGroup[] }>('api/failures');
  const { error: problem, act } = useAct();
  const [asking, ask] = useState<FailureGroup | null>(null);
  const say = (verb: 'requeue' | 'delete', { queue, group }: FailureGroup) => {
    ask(null);
    void act(() => call(`api/failures/${verb}`, { method: 'POST', body: { queue, group } }).then(refresh));
  };
  const groups = [...(data?.groups ?? [])].sort((a, b) => b.lastAt - a.lastAt);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold">Failures</h1>
      <Trouble error={problem ?? (data === undefined ? error : null)} />
      {data?.groups.length === 0 && (
        <Empty title="Nothing has failed">
          Failed jobs gather here by what went wrong, to be looked at and run again together.
        </Empty>
      )}
      {groups.length > 0 && (
        <Still rows={groups} of="failures" keyOf={({ queue, group }) => `${queue}/${group}`}>
          {(rows) => (
            <Table caption="Failure groups" heads={HEADS}>
              {rows.map((each) => (
                <Row
                  key={`${each.queue}/${each.group}`}
                  group={each}
                  onRequeue={() => say('requeue', each)}
                  onDelete={() => ask(each)}
                />
              ))}
            </Table>
          )}
        </Still>
      )}
      {asking !== null && (
        <Question
          title="Delete all jobs of this group?"
          yes={`Delete ${asking.count.toLocaleString('en')}`}
          no="Keep them"
          onYes={() => say('delete', asking)}
          onNo={() => ask(null)}
        >
          <p class="break-words">
            {asking.count.toLocaleString('en')} jobs of {asking.queue} that failed with <em>{asking.group}</em> go with
            their history, logs and attachments, for good.
          </p>
        </Question>
      )}
    </div>
  );
}

interface RowProps {
  readonly group: FailureGroup;
  onRequeue(): void;
  onDelete(): void;
}

function Row({ group: { queue, group, count, firstAt, lastAt, sampleId, trend }, onRequeue, onDelete }: RowProps) {
  return (
    <tr class="hover:bg-raised/50">
      <Cell class="max-w-md font-medium break-words">
        <Link to={`${queuePath(queue)}?state=failed&group=${encodeURIComponent(group)}`} class="link">
          {group}
        </Link>
      </Cell>
      <Cell>{queue}</Cell>
      <Cell class="numbers text-right">{count.toLocaleString('en')}</Cell>
      <Cell class="max-sm:hidden">
        <When at={firstAt} />
      </Cell>
      <Cell>
        <When at={lastAt} />
      </Cell>
      <Cell class="max-sm:hidden">{trend !== null && <Trend days={trend.days} />}</Cell>
      <Cell class="max-w-40 truncate max-sm:hidden">
        {sampleId !== null && (
          <>
            <Link to={jobPath(queue, sampleId)} class="link font-mono text-xs">
              {sampleId}
            </Link>
            <div>
              <Link to={comparePath({ id: sampleId }, { id: '' })} class="link text-xs">
                compare with a good run
              </Link>
            </div>
          </>
        )}
      </Cell>
      <Cell>
        {useMay('operate') && (
          <div class="flex gap-2 max-sm:flex-col">
            <Button onClick={onRequeue}>Run again</Button>
            <Button kind="danger" onClick={onDelete}>
              Delete …
            </Button>
          </div>
        )}
      </Cell>
    </tr>
  );
}

type TrendDays = NonNullable<FailureGroup['trend']>['days'];

const SHOWN_DAYS = 14;

/** Failures a day, as the statistics keep them: they outlive the jobs. */
function Trend({ days }: { days: TrendDays }) {
  const known = new Map(days.map(({ day, failures, retries }) => [day, failures + retries]));
  const today = dayOf(useNow());
  const values = Array.from(
    { length: SHOWN_DAYS },
    (_, place) => known.get(dayText(today - SHOWN_DAYS + 1 + place)) ?? 0,
  );
  const sum = values.reduce((total, each) => total + each, 0);
  return <Sparkline values={values} title={`failed tries in the last ${SHOWN_DAYS} days: ${sum}`} />;
}
