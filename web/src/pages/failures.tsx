/** Failure groups: counts, first and last failure, trend, and retry or delete of a whole group. */
import { useState } from 'preact/hooks';
import { groupOfMessage } from '../../../src/core/job/failure.ts';
import type { FailureGroup } from '../../../src/core/ports/job-store.ts';
import { dayOf, dayText } from '../../../src/core/statistics/statistics.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { comparePath } from '../compare/run.ts';
import { call } from '../data/call.ts';
import { jobPath, queuePath } from '../data/location.ts';
import { useHasRole } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { useQuery } from '../data/use-query.ts';
import { shortId } from '../job/job-title.ts';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Link } from '../ui/link.tsx';
import { RelativeTime, useNow } from '../ui/relative-time.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { StableList } from '../ui/stable-list.tsx';
import { Cell, Table } from '../ui/table.tsx';

const HEADS = [
  'Group',
  { text: 'Queue', class: 'max-sm:hidden' },
  { text: 'Jobs', class: 'text-right' },
  { text: 'First', class: 'max-sm:hidden' },
  { text: 'Last', class: 'max-sm:hidden' },
  { text: 'Trend', class: 'max-sm:hidden' },
  { text: 'Example', class: 'max-sm:hidden' },
  'Actions',
];

export function FailuresPage() {
  const { data, error, refresh } = useQuery<{ groups: readonly FailureGroup[] }>('api/failures');
  const { error: problem, run } = useAction();
  const [dialog, setDialog] = useState<FailureGroup | null>(null);
  const send = (verb: 'requeue' | 'delete', { queue, group }: FailureGroup) => {
    setDialog(null);
    void run(() => call(`api/failures/${verb}`, { method: 'POST', body: { queue, group } }).then(refresh));
  };
  usePageTitle('Failures');
  const groups = [...(data?.groups ?? [])].sort((a, b) => b.lastAt - a.lastAt);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold">Failures</h1>
      <ErrorMessage error={problem ?? (data === undefined ? error : null)} />
      {data?.groups.length === 0 && (
        <Empty title="No failed jobs">
          Failed jobs are grouped here by cause and can be retried or deleted together.
        </Empty>
      )}
      {groups.length > 0 && (
        <StableList rows={groups} of="failures" keyOf={({ queue, group }) => `${queue}/${group}`}>
          {(rows) => (
            <Table caption="Failure groups" heads={HEADS}>
              {rows.map((each) => (
                <Row
                  key={`${each.queue}/${each.group}`}
                  group={each}
                  onRequeue={() => send('requeue', each)}
                  onDelete={() => setDialog(each)}
                />
              ))}
            </Table>
          )}
        </StableList>
      )}
      {dialog !== null && (
        <ConfirmDialog
          title="Delete all jobs of this group?"
          confirmLabel={`Delete ${dialog.count.toLocaleString('en')}`}
          onConfirm={() => send('delete', dialog)}
          onClose={() => setDialog(null)}
        >
          <p class="break-words">
            {dialog.count.toLocaleString('en')} jobs of {dialog.queue} that failed with <em>{dialog.group}</em> are
            deleted with their history, logs and attachments. This cannot be undone.
          </p>
        </ConfirmDialog>
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
        <Link to={`${queuePath(queue)}?state=failed&group=${encodeURIComponent(group)}`} class="link underline">
          {group}
        </Link>
        {sampleId !== null && <LastMessage id={sampleId} group={group} />}
        <div class="text-xs font-normal text-soft sm:hidden">
          {queue}, <RelativeTime at={lastAt} />
        </div>
      </Cell>
      <Cell class="max-sm:hidden">{queue}</Cell>
      <Cell class="numbers text-right">{count.toLocaleString('en')}</Cell>
      <Cell class="max-sm:hidden">
        <RelativeTime at={firstAt} />
      </Cell>
      <Cell class="max-sm:hidden">
        <RelativeTime at={lastAt} />
      </Cell>
      <Cell class="max-sm:hidden">{trend !== null && <Trend days={trend.days} />}</Cell>
      <Cell class="max-w-56 truncate max-sm:hidden">
        {sampleId !== null && (
          <>
            <Link to={jobPath(queue, sampleId)} class="link font-mono text-xs" title={sampleId}>
              {shortId(sampleId)}
            </Link>
            <div>
              <Link to={comparePath({ id: sampleId }, { id: '' })} class="link text-xs">
                compare with another run
              </Link>
            </div>
          </>
        )}
      </Cell>
      <Cell>
        {useHasRole('operate') && (
          <div class="flex gap-2 max-sm:flex-col">
            <Button onClick={onRequeue}>Retry</Button>
            <Button kind="danger" onClick={onDelete}>
              Delete …
            </Button>
          </div>
        )}
      </Cell>
    </tr>
  );
}

const ONCE = { concerns: () => false, everyMs: 600_000 };

/** The message of the example, if the group does not say it already. */
function LastMessage({ id, group }: { id: string; group: string }) {
  const { data } = useQuery<JobView>(`api/jobs/${encodeURIComponent(id)}`, ONCE);
  const message = data?.failure?.message;
  if (message === undefined || group.endsWith(groupOfMessage(message))) return null;
  return <div class="line-clamp-2 text-xs font-normal text-soft">{message}</div>;
}

type TrendDays = NonNullable<FailureGroup['trend']>['days'];

const SHOWN_DAYS = 14;

/** Failures per day from the statistics, which outlive the jobs. */
function Trend({ days }: { days: TrendDays }) {
  const known = new Map(days.map(({ day, failures, retries }) => [day, failures + retries]));
  const today = dayOf(useNow());
  const values = Array.from(
    { length: SHOWN_DAYS },
    (_, place) => known.get(dayText(today - SHOWN_DAYS + 1 + place)) ?? 0,
  );
  const sum = values.reduce((total, each) => total + each, 0);
  return <Sparkline values={values} title={`failed attempts in the last ${SHOWN_DAYS} days: ${sum}`} />;
}
