/** The report of a chaos run in Markdown, and the command that repeats it. Pure. */
import { CHECK_NAMES, type CheckName, type Evidence, type Finding } from './checks/evidence.ts';
import type { StoreName } from './environment.ts';
import type { ResourceSample } from './resources.ts';

export interface ReportInput {
  readonly store: StoreName;
  readonly seed: number;
  readonly minutes: number;
  readonly everyMs: number;
  /** The names given with --faults; null: all that are possible. */
  readonly faults: readonly string[] | null;
  /** Kinds that were left out, and why. */
  readonly skipped: readonly { readonly kind: string; readonly reason: string }[];
  readonly evidence: Evidence;
  readonly findings: readonly Finding[];
  /** Planned faults that found nothing to hit. */
  readonly missed: number;
  readonly samples: readonly ResourceSample[];
  /** Node.js and the machine. */
  readonly machine: string;
}

const TITLES: Readonly<Record<StoreName, string>> = { sqlite: 'SQLite', redis: 'Redis' };

/** More findings of a check add nothing. */
const MAX_FINDINGS = 10;

/** Returns the command that repeats the run: the same faults at the same times. */
export function commandOf({ store, seed, minutes, everyMs, faults }: ReportInput): string {
  const only = faults === null ? '' : ` --faults ${faults.join(',')}`;
  return `npm run chaos -- --minutes ${minutes} --store ${store} --seed ${seed} --every ${everyMs}${only}`;
}

export function reportOf(input: ReportInput): string {
  const { store, seed, minutes, machine, skipped } = input;
  return [
    `## ${TITLES[store]}: ${minutes} minutes, seed ${seed}`,
    `${machine}. Repeat it with:`,
    `    ${commandOf(input)}`,
    '### Checks',
    checksTable(input.findings),
    ...findingLists(input.findings),
    '### Jobs and faults',
    figuresTable(input),
    '### Faults by kind',
    faultsTable(input),
    ...(skipped.length === 0
      ? []
      : ['Not injected:', skipped.map(({ kind, reason }) => `- ${kind}: ${reason}`).join('\n')]),
    '### Memory and open files',
    resourcesTable(input.samples),
    'Over the time of the run (RSS in MB / open files):',
    timeTable(input.samples),
  ]
    .join('\n\n')
    .concat('\n');
}

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const of = (findings: readonly Finding[], name: CheckName): readonly Finding[] =>
  findings.filter(({ check }) => check === name);

const checksTable = (findings: readonly Finding[]): string =>
  table(
    ['check', 'findings'],
    CHECK_NAMES.map((name) => [name, of(findings, name).length]),
  );

function findingLists(findings: readonly Finding[]): readonly string[] {
  return CHECK_NAMES.filter((name) => of(findings, name).length > 0).map((name) => {
    const texts = of(findings, name).slice(0, MAX_FINDINGS);
    return `${name}:\n\n${texts.map(({ text }) => `- ${text}`).join('\n')}`;
  });
}

/** What must occur for the checks to mean anything, counted. */
export function figuresOf({
  evidence,
  missed,
}: Pick<ReportInput, 'evidence' | 'missed'>): Readonly<Record<string, number>> {
  const { entries, jobs, faults } = evidence;
  const rows = jobs.flatMap((stored) => stored.rows);
  const entriesOf = (type: string): number => entries.filter((entry) => entry.type === type).length;
  return {
    jobs: jobs.length,
    done: jobs.filter(({ job }) => job.state === 'done').length,
    'attempts after the first': rows.filter(({ event, attempt }) => event === 'claimed' && attempt > 1).length,
    'lost leases': rows.filter(({ event }) => event === 'lost').length,
    'late settlements': rows.filter(({ event }) => event === 'late').length,
    'adds confirmed': entriesOf('acked'),
    'adds without an answer': entriesOf('unacked'),
    'runs of steps': entriesOf('step'),
    faults: faults.length,
    'faults without a target': missed,
    'kinds of faults': new Set(faults.map(({ kind }) => kind)).size,
  };
}

const figuresTable = (input: ReportInput): string => table(['figure', 'count'], Object.entries(figuresOf(input)));

function faultsTable({ evidence: { faults } }: ReportInput): string {
  const counts = new Map<string, number>();
  for (const { kind } of faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return table(
    ['kind', 'times'],
    [...counts].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const PARTS = 10;

/** The mean of each process in each tenth of the run. */
function timeTable(samples: readonly ResourceSample[]): string {
  const names = [...new Set(samples.map(({ name }) => name))];
  const from = samples[0]?.at ?? 0;
  const partMs = Math.max(1, (samples.at(-1)?.at ?? 0) - from + 1) / PARTS;
  const rows = Array.from({ length: PARTS }, (_, part) => {
    const inPart = samples.filter(({ at }) => Math.floor((at - from) / partMs) === part);
    const cells = names.map((name) => {
      const own = inPart.filter((sample) => sample.name === name);
      return `${mean(own.map(({ rssMb }) => rssMb))} / ${mean(own.map(({ files }) => files))}`;
    });
    return [((part * partMs) / 60_000).toFixed(1), ...cells];
  });
  return table(['from minute', ...names], rows);
}

const mean = (values: readonly number[]): string =>
  values.length === 0 ? '–' : (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(0);

/** The highest values, and the mean of the first and the last quarter of the run: a leak would show as growth. */
function resourcesTable(samples: readonly ResourceSample[]): string {
  const names = [...new Set(samples.map(({ name }) => name))];
  const rows = names.map((name) => {
    const own = samples.filter((sample) => sample.name === name);
    const quarter = Math.ceil(own.length / 4);
    const [first, last] = [own.slice(0, quarter), own.slice(-quarter)];
    const [rss, files] = [(each: ResourceSample) => each.rssMb, (each: ResourceSample) => each.files];
    const most = Math.max(...own.map(rss)).toFixed(0);
    return [name, mean(first.map(rss)), mean(last.map(rss)), most, mean(first.map(files)), mean(last.map(files))];
  });
  return table(
    ['process', 'RSS first quarter, MB', 'last quarter', 'highest', 'files first quarter', 'last quarter'],
    rows,
  );
}
