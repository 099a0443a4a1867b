/**
 * The log viewer of an attempt. Opens at the end, or at the line in the URL,
 * and follows new output while it is scrolled to the end.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Phase as ReportedPhase } from '../../../src/core/job/phase.ts';
import { useNow } from '../ui/relative-time.tsx';
import type { Folds, Group } from './folds.ts';
import { foldsOf, groupsOf } from './folds.ts';
import { LogBar } from './log-bar.tsx';
import type { LogDisplay } from './log-display.ts';
import { timeOf } from './log-display.ts';
import { LogLines } from './log-lines.ts';
import { LogRow } from './log-row.tsx';
import { MatchMap } from './match-map.tsx';
import { PhaseStrip } from './phase-strip.tsx';
import { phasesOf } from './phases.ts';
import type { LineRange } from './selected-lines.ts';
import { parseRange, rangeHash } from './selected-lines.ts';
import type { LogScroll } from './use-log-scroll.ts';
import { ROW, useLogScroll } from './use-log-scroll.ts';
import { WholeLine } from './whole-line.tsx';

interface LogViewProps {
  readonly job: string;
  readonly attempt: number | 'latest';
  /** The phases that the attempt reported in its progress texts. */
  readonly reported: readonly ReportedPhase[];
  /** The start, if known, and the end; null while the attempt runs. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly isSuspended: boolean;
}

export function LogView({ job, attempt, ...shown }: LogViewProps) {
  const [, redraw] = useState(0);
  const [log, setLog] = useState<LogLines | null>(null);
  useEffect(() => {
    let frame = 0;
    // Redraws at most once per frame.
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => redraw((count) => count + 1));
    };
    const lines = new LogLines(job, attempt, soon);
    setLog(lines);
    return () => {
      cancelAnimationFrame(frame);
      lines.close();
    };
  }, [job, attempt]);
  return log === null ? null : <Lines key={`${job}/${attempt}`} log={log} {...shown} />;
}

type LinesProps = Omit<LogViewProps, 'job' | 'attempt'> & { readonly log: LogLines };

function Lines({ log, reported, startedAt, endedAt, isSuspended }: LinesProps) {
  const [display, setDisplay] = useState<LogDisplay>({ isWrapped: false, times: 'no timestamps' });
  const [highlight, setHighlight] = useState('');
  const [matches, setMatches] = useState<readonly number[]>([]);
  const { groups, folds, folded, fold, unfold } = useFolds(log);
  const scroll = useLogScroll(folds.rows);
  const goToLine = (line: number) => {
    unfold(line);
    scroll.goTo(folds.rowOf(line) - 1 - Math.floor(scroll.shown / 3));
  };
  const { selected, select } = useSelectedLines(log, goToLine);
  const [long, show] = useState<number | null>(null);
  return (
    <section aria-label="Log" class="panel overflow-hidden">
      <LogBar
        {...{ log, display, setDisplay, selected, scroll, goToLine }}
        onHighlight={setHighlight}
        onMatches={setMatches}
      />
      <Phases {...{ log, reported, startedAt, endedAt, goToLine }} />
      <div class="relative">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
        <section
          ref={scroll.frame}
          class="relative max-h-[60vh] min-h-24 overflow-y-scroll overscroll-contain bg-ground font-mono text-[13px]"
          style={{ height: `${frameRows(folds.rows, display.isWrapped) * ROW}px` }}
          tabIndex={0}
          aria-label="Lines of the log"
          onWheel={scroll.onWheel}
          onScroll={scroll.onScroll}
          onKeyDown={scroll.onKey}
        >
          <Rows {...{ log, display, highlight, scroll, groups, folds, folded, fold, show, selected, select }} />
          <div style={{ height: `${scroll.spacer}px` }} />
        </section>
        <MatchMap lines={matches} total={log.total} goTo={goToLine} />
      </div>
      {long !== null && <WholeLine path={log.path} line={long} onClose={() => show(null)} />}
      <footer class="border-t border-line px-3 py-1.5 text-xs text-soft" aria-live="polite">
        {isSuspended ? SUSPENDED : log.end === null ? RUNNING : endText(log)}
      </footer>
    </section>
  );
}

const RUNNING = 'The attempt is running; new lines appear automatically.';
const SUSPENDED = 'The attempt is suspended; new lines appear when it is resumed.';

/** The height of the frame in rows; wrapped lines may need more rows than lines. */
function frameRows(rows: number, isWrapped: boolean): number {
  return isWrapped ? Math.max(MANY_ROWS, rows) : Math.min(MANY_ROWS, rows + 1);
}

const MANY_ROWS = 200;

type PhasesProps = Omit<LinesProps, 'isSuspended'> & { readonly goToLine: (line: number) => void };

function Phases({ log, reported, startedAt, endedAt, goToLine }: PhasesProps) {
  const now = useNow();
  const { markers } = log;
  const isRunning = endedAt === null && log.end === null;
  // Without a start time there are no phases.
  const phases =
    startedAt === null ? [] : phasesOf({ markers, reported, isRunning, since: startedAt, until: endedAt ?? now });
  return <PhaseStrip phases={phases} goTo={goToLine} />;
}

interface RowsProps {
  readonly log: LogLines;
  readonly display: LogDisplay;
  readonly highlight: string;
  readonly scroll: LogScroll;
  readonly groups: ReadonlyMap<number, Group>;
  readonly folds: Folds;
  readonly folded: ReadonlySet<number>;
  readonly selected: LineRange | null;
  fold(line: number): void;
  show(line: number): void;
  select(line: number, isRange: boolean): void;
}

function Rows({ log, display, highlight, scroll, groups, folds, folded, fold, show, selected, select }: RowsProps) {
  const first = Math.floor(scroll.place) + 1;
  const count = Math.min(scroll.shown + 1, Math.max(0, folds.rows - first + 1));
  const numbers = Array.from({ length: count }, (_, step) => folds.lineOf(first + step));
  return (
    <div class="sticky top-0 flex h-full flex-col overflow-hidden">
      <div class={scroll.isFollowing && folds.rows >= scroll.shown ? 'mt-auto' : ''}>
        {numbers.map((number) => (
          <LogRow
            key={number}
            line={log.at(number)}
            {...{ number, highlight }}
            isWrapped={display.isWrapped}
            time={timeOf(log, number, display.times)}
            group={groups.get(number)}
            isFolded={folded.has(number)}
            isSelected={selected !== null && number >= selected.from && number <= selected.to}
            onFold={fold}
            onShow={show}
            onSelect={select}
          />
        ))}
        {log.total === 0 && log.isOpen && (
          <p class="p-4 font-sans text-soft">
            {log.problem ?? (log.end === null ? 'No output yet.' : 'The attempt wrote no output.')}
          </p>
        )}
      </div>
    </div>
  );
}

function useFolds(log: LogLines) {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const { markers, total } = log;
  const all = useMemo(() => groupsOf(markers, total), [markers.length, total]);
  const groups = useMemo(() => new Map(all.map((group) => [group.line, group])), [all]);
  const folds = useMemo(() => foldsOf(all, folded, total), [all, folded, total]);
  const fold = (line: number) => {
    const next = new Set(folded);
    if (!next.delete(line)) next.add(line);
    setFolded(next);
  };
  const unfold = (line: number) => {
    const around = all.filter((group) => folded.has(group.line) && line > group.line && line <= group.end);
    if (around.length > 0)
      setFolded(new Set([...folded].filter((each) => around.every((group) => group.line !== each))));
  };
  return { groups, folds, folded, fold, unfold };
}

function useSelectedLines(log: LogLines, goToLine: (line: number) => void) {
  const [selected, setSelected] = useState<LineRange | null>(() => parseRange(location.hash));
  useEffect(() => {
    if (log.isOpen && selected !== null) goToLine(selected.from);
  }, [log.isOpen]);
  useEffect(() => {
    const onHash = () => setSelected(parseRange(location.hash));
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  const select = (line: number, isRange: boolean) => {
    const next = isRange && selected !== null ? parseRange(`#L${selected.from}-L${line}`) : { from: line, to: line };
    if (next === null) return;
    setSelected(next);
    history.replaceState(null, '', `${location.pathname}${location.search}${rangeHash(next)}`);
  };
  return { selected, select };
}

function endText({ end }: LogLines): string {
  if (end?.signal != null) return `The attempt was ended by ${end.signal}.`;
  if (end?.exit != null) return `The attempt ended with exit status ${end.exit}.`;
  return 'The attempt has ended.';
}
