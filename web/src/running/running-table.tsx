/**
 * The table of running jobs. Rows are ordered by start time, and the row of an ended job stays
 * for a moment, so that rows do not move under the pointer.
 */
import { useRef } from 'preact/hooks';
import type { RunningRow, RunningRows } from '../../../src/wire/overview.ts';
import { bytes } from '../../../src/wire/spans.ts';
import { jobPath, queuePath } from '../data/location.ts';
import { titleOf } from '../job/job-title.ts';
import { LogText } from '../log/log-text.tsx';
import { JobChip } from '../ui/chip.tsx';
import { Link } from '../ui/link.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Elapsed, RelativeTime, useNow } from '../ui/relative-time.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Expected, endText } from './expected.tsx';
import type { KeptRow } from './kept-rows.ts';
import { keepRows } from './kept-rows.ts';

/** Columns hidden on a narrow screen, where the second column shows a summary of them. */
const WIDE = 'max-sm:hidden';
const HEADS = [
  'Job',
  'Progress',
  ...['Elapsed', 'Ends', 'Uses', 'Last output', 'Heartbeat'].map((text) => ({ text, class: WIDE })),
];

/** Returns the running jobs, and for a moment those that ended. */
export function useKeptRows(view: RunningRows | undefined): readonly KeptRow[] {
  const now = useNow();
  const kept = useRef<readonly KeptRow[]>([]);
  if (view !== undefined) kept.current = keepRows(kept.current, view.rows, now);
  return kept.current;
}

export function RunningTable({ rows }: { rows: readonly KeptRow[] }) {
  return (
    <Table caption="Running jobs" heads={HEADS}>
      {rows.map(({ row, endedAt }) => (
        <Row key={row.job.id} row={row} isOver={endedAt !== null} />
      ))}
    </Table>
  );
}

function Row({ row, isOver }: { row: RunningRow; isOver: boolean }) {
  const { job } = row;
  const startedAt = job.lease?.startedAt ?? job.lease?.claimedAt ?? job.createdAt;
  return (
    <tr class={isOver ? 'bg-raised grayscale' : 'hover:bg-raised/50'}>
      <Cell class="max-w-40 sm:max-w-72">
        <div class="flex items-center gap-2">
          <Link to={jobPath(job.queue, job.id)} class="link truncate font-medium" title={job.id}>
            {titleOf(job)}
          </Link>
          {isOver && <span class="text-xs text-soft">ended</span>}
          {!isOver && job.label !== 'running' && <JobChip label={job.label} title={job.reason} />}
        </div>
        <div class="truncate text-xs text-soft">
          <Link to={queuePath(job.queue)} class="hover:underline">
            {job.queue}
          </Link>{' '}
          · {row.host ?? 'a worker'}
          {row.pid !== null && ` · pid ${row.pid}`}
        </div>
      </Cell>
      <Cell class="min-w-36 sm:min-w-44">
        <ProgressBar percent={job.progress?.percent ?? null} label={`progress of ${titleOf(job)}`} />
        <div class="max-w-64 truncate text-xs text-soft" title={job.progress?.text ?? ''}>
          {job.progress?.text ?? ''}
        </div>
        {!isOver && <NarrowSummary row={row} startedAt={startedAt} />}
      </Cell>
      <Cell class={WIDE}>{isOver ? '–' : <Elapsed at={startedAt} />}</Cell>
      <Cell class={WIDE}>{isOver ? '–' : <Expected row={row} />}</Cell>
      <Cell class={WIDE}>
        <ResourceUse row={row} />
      </Cell>
      <Cell class={`max-w-80 ${WIDE}`}>
        <div class="truncate font-mono text-xs">
          {row.lastLine === null ? <span class="text-soft">no output yet</span> : <LogText line={row.lastLine} />}
        </div>
        <div class={`text-xs ${row.isSilent ? 'font-medium text-warn' : 'text-soft'}`}>
          {row.isSilent && 'silent, last output '}
          {row.lastOutputAt !== null && <RelativeTime at={row.lastOutputAt} />}
        </div>
      </Cell>
      <Cell class={`text-xs text-soft ${WIDE}`}>
        <RelativeTime at={row.heartbeatAt} />
      </Cell>
    </tr>
  );
}

function NarrowSummary({ row, startedAt }: { row: RunningRow; startedAt: number }) {
  const now = useNow();
  const { expectedEndAt, isSlow, isSilent } = row;
  return (
    <div class="text-xs text-soft sm:hidden">
      <Elapsed at={startedAt} />
      {expectedEndAt !== null && ` · ends ${endText(expectedEndAt, now)}`}
      {(isSlow || isSilent) && <span class="font-medium text-warn"> {isSilent ? 'silent' : 'slower than usual'}</span>}
    </div>
  );
}

function ResourceUse({ row: { samples, job } }: { row: RunningRow }) {
  const last = samples.at(-1);
  if (last === undefined) return <span class="text-xs text-soft">–</span>;
  const title = `CPU of ${job.id}: ${Math.round(last.cpuPercent)} % of a core now`;
  const memory = `Memory of ${job.id}: ${bytes(last.rssBytes)} now`;
  return (
    <div class="flex items-center gap-2 whitespace-nowrap">
      <div class="grid gap-px">
        <Sparkline
          values={samples.map(({ cpuPercent }) => cpuPercent)}
          title={title}
          width={64}
          height={16}
          top={100}
        />
        <Sparkline values={samples.map(({ rssBytes }) => rssBytes)} title={memory} width={64} height={16} />
      </div>
      <div class="numbers text-xs leading-[17px] text-soft">
        {Math.round(last.cpuPercent)} %<br />
        {bytes(last.rssBytes)}
      </div>
    </div>
  );
}
