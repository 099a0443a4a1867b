/** Metrics of two runs side by side, with the relative difference. */
import type { ComponentChildren } from 'preact';
import { readySince } from '../../../src/core/job/job.ts';
import { bytes, localIso } from '../../../src/wire/spans.ts';
import { jobPath } from '../data/location.ts';
import { titleOf } from '../job/job-title.ts';
import { JobChip } from '../ui/chip.tsx';
import { Link } from '../ui/link.tsx';
import { shortDuration } from '../ui/short-duration.ts';
import { Cell, Table } from '../ui/table.tsx';
import type { Run } from './run.ts';

interface Metric {
  readonly name: string;
  of(run: Run): number | null;
  show(value: number): string;
}

const since = (later: number | null | undefined, earlier: number | null | undefined): number | null =>
  later == null || earlier == null ? null : later - earlier;

/** A zero means that the attempt ended before it was sampled: not known. */
const seen = (value: number | undefined, times = 1): number | null =>
  value === undefined || value === 0 ? null : value * times;

const METRICS: readonly Metric[] = [
  { name: 'waited for a worker', of: waitedFor, show: shortDuration },
  { name: 'ran for', of: ranFor, show: shortDuration },
  { name: 'CPU', of: ({ attempt }) => seen(attempt?.usage?.cpuSeconds, 1_000), show: shortDuration },
  { name: 'peak memory', of: ({ attempt }) => seen(attempt?.usage?.peakRssBytes), show: bytes },
  { name: 'read', of: ({ attempt }) => seen(attempt?.usage?.readBytes), show: bytes },
  { name: 'written', of: ({ attempt }) => seen(attempt?.usage?.writtenBytes), show: bytes },
  { name: 'log', of: ({ attempt }) => attempt?.log?.size ?? null, show: bytes },
];

/** The wait before an attempt, without the time in which the job was blocked. Known for the last attempt only. */
export function waitedFor({ job, attempt, number }: Run): number | null {
  const from = readySince(job);
  const isKnown = number === job.attempt && attempt?.claimedAt != null && from <= attempt.claimedAt;
  return isKnown ? since(attempt.claimedAt, from) : null;
}

/** The run time by the history, as in the timeline: from the claim to the end, without suspensions. */
export function ranFor({ attempt }: Run): number | null {
  return attempt == null || attempt.endedAt === null ? null : attempt.ranMs;
}

const HEADS = ['Figure', 'First', 'Second', 'Difference'];

export function RunMetrics({ a, b }: { a: Run; b: Run }) {
  return (
    <Table caption="Run metrics" heads={HEADS}>
      <Line name="job" sides={[<Name key="a" run={a} />, <Name key="b" run={b} />]} />
      <Line name="state" sides={[<State key="a" run={a} />, <State key="b" run={b} />]} />
      <Line name="started" sides={[startedAt(a), startedAt(b)]} />
      <Line name="ended" sides={[endOf(a), endOf(b)]} />
      {METRICS.map(({ name, of, show }) => (
        <Line
          key={name}
          name={name}
          sides={[of(a), of(b)].map((value) => (value === null ? '–' : show(value)))}
          difference={differenceOf(of(a), of(b))}
        />
      ))}
    </Table>
  );
}

interface LineProps {
  readonly name: string;
  readonly sides: readonly ComponentChildren[];
  readonly difference?: string;
}

function Line({ name, sides: [a, b], difference = '' }: LineProps) {
  return (
    <tr>
      <th scope="row" class="px-3 py-2 text-left font-normal text-soft">
        {name}
      </th>
      <Cell class="numbers break-words">{a}</Cell>
      <Cell class="numbers break-words">{b}</Cell>
      <Cell class="numbers whitespace-nowrap">{difference}</Cell>
    </tr>
  );
}

function Name({ run: { job, number } }: { run: Run }) {
  const path = jobPath(job.queue, job.id);
  return (
    <>
      <Link to={number === job.attempt ? path : `${path}?attempt=${number}`} class="link break-all">
        {titleOf(job)}
      </Link>
      <div class="text-xs text-soft">
        attempt {number} of {job.attempt}, in {job.queue}
      </div>
    </>
  );
}

function State({ run: { job, number, attempt } }: { run: Run }) {
  if (number === job.attempt) return <JobChip label={job.label} title={job.reason} />;
  return <>{attempt?.outcome ?? '–'}</>;
}

const startedAt = ({ attempt }: Run): string => (attempt?.claimedAt == null ? '–' : localIso(attempt.claimedAt));

function endOf({ attempt }: Run): string {
  if (attempt === undefined) return '–';
  const exit = attempt.end?.signal ?? (attempt.end?.exit == null ? null : `exit ${attempt.end.exit}`);
  return [attempt.isRunning ? 'running' : attempt.outcome, exit, attempt.note]
    .filter((part) => part != null)
    .join(', ');
}

/** Returns '+ 40 %', '2.3 ×', or '' if there is nothing to compare. */
export function differenceOf(a: number | null, b: number | null): string {
  if (a === null || b === null || a <= 0) return '';
  const times = b / a;
  if (times >= 2 || times <= 0.5) return `${times >= 10 ? Math.round(times) : times.toFixed(times < 0.1 ? 2 : 1)} ×`;
  const percent = Math.round((times - 1) * 100);
  return percent === 0 ? 'equal' : `${percent > 0 ? '+' : '−'} ${Math.abs(percent)} %`;
}
