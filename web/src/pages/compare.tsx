/** Compares two runs (attempts of a job, or two jobs): metrics, phases, data, results and logs. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { Difference } from '../compare/difference.tsx';
import { MAX_LINES } from '../compare/line-diff.ts';
import type { Run } from '../compare/run.ts';
import { useRun } from '../compare/run.ts';
import { differenceOf, RunMetrics } from '../compare/run-metrics.tsx';
import { withQuery } from '../data/call.ts';
import { setQuery } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';
import { shortId, titleOf } from '../job/job-title.ts';
import type { GroupMarker } from '../log/folds.ts';
import { GROUP_MARKERS } from '../log/folds.ts';
import type { Phase } from '../log/phases.ts';
import { phasesOf } from '../log/phases.ts';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { shortDuration } from '../ui/short-duration.ts';
import { Cell, Table } from '../ui/table.tsx';

export function ComparePage() {
  usePageTitle('Compare runs');
  const [a, b] = [useRun('a'), useRun('b')];
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header class="flex flex-wrap items-center justify-between gap-3">
        <h1 class="text-xl font-semibold">Compare runs</h1>
        {a.run !== undefined && <OtherRuns of={a.run.job} selected={b.id} />}
      </header>
      <ErrorMessage error={a.error ?? b.error} />
      {(a.id === '' || b.id === '') && (
        <Empty title="Select the other run">
          To compare two attempts, use the table of attempts of a job. To compare with another job, select it above.
        </Empty>
      )}
      {a.run !== undefined && b.run !== undefined && <Both a={a.run} b={b.run} />}
    </div>
  );
}

const OTHERS = 30;

/** Jobs of the same name, or of the same queue if the job has no name. */
function OtherRuns({ of, selected }: { of: JobView; selected: string }) {
  const query = { queue: of.queue, limit: OTHERS, ...(of.name !== null && { name: of.name }) };
  const { data } = useQuery<{ jobs: readonly JobView[] }>(withQuery('api/jobs', query), { concerns: () => false });
  const jobs = (data?.jobs ?? []).filter(({ id, attempt }) => attempt > 0 && (id !== of.id || id === selected));
  return (
    <label class="flex items-center gap-2 text-sm">
      with
      <select
        class="max-w-80 rounded-md border border-line bg-sheet px-2 py-1"
        value={selected}
        onChange={({ currentTarget: { value } }) => setQuery({ b: value, bAttempt: null })}
      >
        {!jobs.some(({ id }) => id === selected) && (
          <option value={selected}>{selected === '' ? 'select …' : shortId(selected)}</option>
        )}
        {jobs.map((job) => (
          <option key={job.id} value={job.id}>
            {titleOf(job)}, {shortId(job.id)} ({job.label})
          </option>
        ))}
      </select>
    </label>
  );
}

function Both({ a, b }: { a: Run; b: Run }) {
  const [data, result] = [jsonLines(a.job.data, b.job.data), jsonLines(a.job.result, b.job.result)];
  return (
    <>
      <RunMetrics a={a} b={b} />
      <Phases a={usePhases(a)} b={usePhases(b)} />
      {a.job.id !== b.job.id && (
        <div class="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-2">
          <Panel title="Data">
            <Difference name="Difference of the data" {...data} />
          </Panel>
          <Panel title="Result">
            <Difference name="Difference of the results" {...result} />
          </Panel>
        </div>
      )}
      <Logs a={a} b={b} />
    </>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="panel p-4" aria-label={title}>
      <h2 class="mb-2 font-semibold">{title}</h2>
      {children}
    </section>
  );
}

const jsonLines = (a: unknown, b: unknown) => ({ a: linesOf(a), b: linesOf(b) });
const linesOf = (value: unknown): readonly string[] => (JSON.stringify(value ?? null, null, 2) ?? 'null').split('\n');

const logPath = ({ job, number }: Run): string => `api/jobs/${encodeURIComponent(job.id)}/attempts/${number}/log`;
const once = { concerns: () => false, everyMs: 60_000 };

function usePhases(run: Run): readonly Phase[] {
  const path =
    run.attempt?.log == null
      ? null
      : withQuery(`${logPath(run)}/search`, { q: GROUP_MARKERS, regex: 'true', limit: 1_000 });
  const { data } = useQuery<{ matches: readonly GroupMarker[] }>(path, once);
  const until = run.attempt?.end?.endedAt ?? run.attempt?.endedAt ?? run.attempt?.claimedAt ?? 0;
  const since = run.attempt?.claimedAt ?? until;
  return phasesOf({
    markers: data?.matches ?? [],
    reported: run.attempt?.phases ?? [],
    since,
    until,
    isRunning: false,
  });
}

/** One row for each phase name, in order of first appearance. */
function Phases({ a, b }: { a: readonly Phase[]; b: readonly Phase[] }) {
  const names = [...new Set([...a, ...b].map(({ name }) => name))];
  if (names.length === 0) return null;
  const sumOf = (phases: readonly Phase[], name: string): number | null => {
    const same = phases.filter((phase) => phase.name === name);
    return same.length === 0 ? null : same.reduce((sum, { from, to }) => sum + to - from, 0);
  };
  return (
    <Table caption="Phases" heads={['Phase', 'First', 'Second', 'Difference']}>
      {names.map((name) => {
        const [first, second] = [sumOf(a, name), sumOf(b, name)];
        return (
          <tr key={name}>
            <Cell class="max-w-96 break-words">{name}</Cell>
            <Cell class="numbers">{first === null ? '–' : shortDuration(first)}</Cell>
            <Cell class="numbers">{second === null ? '–' : shortDuration(second)}</Cell>
            <Cell class="numbers">{differenceOf(first, second)}</Cell>
          </tr>
        );
      })}
    </Table>
  );
}

interface LogPage {
  readonly lines: readonly { readonly text: string }[];
}

const withoutNumbers = (line: string): string => line.replace(/[\d.,:]+/g, '#');

function Logs({ a, b }: { a: Run; b: Run }) {
  const [doNumbersCount, count] = useState(false);
  const [first, second] = [useLogLines(a), useLogLines(b)];
  return (
    <Panel title="Logs">
      <label class="mb-2 flex w-fit items-center gap-2 text-sm text-soft">
        <input type="checkbox" checked={doNumbersCount} onChange={({ currentTarget: { checked } }) => count(checked)} />
        treat numbers as differences
      </label>
      {first === null || second === null ? (
        <p class="text-soft">Loading …</p>
      ) : (
        <Difference
          name="Difference of the logs"
          a={first}
          b={second}
          {...(!doNumbersCount && { sameAs: withoutNumbers })}
        />
      )}
      <p class="mt-2 text-sm text-soft">The first {MAX_LINES.toLocaleString('en')} lines of each are compared.</p>
    </Panel>
  );
}

/** Null while loading; empty if this node has no log of the attempt. */
function useLogLines(run: Run): readonly string[] | null {
  const path = run.attempt?.log == null ? null : withQuery(logPath(run), { line: 1, lines: MAX_LINES });
  const { data, error } = useQuery<LogPage>(path, once);
  if (path === null || error !== null) return [];
  return data === undefined ? null : data.lines.map(({ text }) => text);
}
