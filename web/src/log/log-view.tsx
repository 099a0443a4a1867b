/**
 * The log of an attempt. Opens at its end, or at the line that the address names, with everything above it reachable,
 * and follows as long as one stays at its end.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Phase as Spoken } from '../../../src/core/job/phase.ts';
import { useNow } from '../ui/when.tsx';
import type { Chosen } from './chosen-lines.ts';
import { hashOf, readChosen } from './chosen-lines.ts';
import type { Folds, Group } from './folds.ts';
import { foldsOf, groupsOf } from './folds.ts';
import { LogBar } from './log-bar.tsx';
import { LogLines } from './log-lines.ts';
import type { LogLook } from './log-look.ts';
import { timeOf } from './log-look.ts';
import { LogRow } from './log-row.tsx';
import { MatchMap } from './match-map.tsx';
import { PhaseStrip } from './phase-strip.tsx';
import { phasesOf } from './phases.ts';
import type { LogScroll } from './use-log-scroll.ts';
import { ROW, useLogScroll } from './use-log-scroll.ts';
import { WholeLine } from './whole-line.tsx';

interface LogViewProps {
  readonly job: string;
  readonly attempt: number | 'latest';
  /** What its status texts told of its phases. */
  readonly spoken: readonly Spoken[];
  /** When it began, where that is known, and when it ended; null while it goes on. */
  readonly begunAt: number | null;
  readonly endedAt: number | null;
}

export function LogView({ job, attempt, spoken, begunAt, endedAt }: LogViewProps) {
  const [, redraw] = useState(0);
  const [log, setLog] = useState<LogLines | null>(null);
  useEffect(() => {
    let frame = 0;
    // However fast a log grows, it is drawn once a frame.
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
  return log === null ? null : <Lines key={`${job}/${attempt}`} {...{ log, spoken, begunAt, endedAt }} />;
}

type LinesProps = Pick<LogViewProps, 'spoken' | 'begunAt' | 'endedAt'> & { readonly log: LogLines };

function Lines({ log, spoken, begunAt, endedAt }: LinesProps) {
  const [look, setLook] = useState<LogLook>({ isWrapped: false, times: 'no times' });
  const [mark, setMark] = useState('');
  const [matches, setMatches] = useState<readonly number[]>([]);
  const { groups, folds, folded, fold, unfold } = useFolds(log);
  const scroll = useLogScroll(folds.rows);
  const goToLine = (line: number) => {
    unfold(line);
    scroll.goTo(folds.rowOf(line) - 1 - Math.floor(scroll.shown / 3));
  };
  const { chosen, choose } = useChosen(log, goToLine);
  const [long, show] = useState<number | null>(null);
  return (
    <section aria-label="Log" class="panel overflow-hidden">
      <LogBar {...{ log, look, setLook, chosen, scroll, goToLine }} onMark={setMark} onMatches={setMatches} />
      <Phases {...{ log, spoken, begunAt, endedAt, goToLine }} />
      <div class="relative">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section
          ref={scroll.frame}
          class="relative max-h-[60vh] min-h-24 overflow-y-scroll overscroll-contain bg-ground font-mono text-[13px]"
          style={{ height: `${frameRows(folds.rows, look.isWrapped) * ROW}px` }}
          tabIndex={0}
          aria-label="Lines of the log"
          onWheel={scroll.onWheel}
          onScroll={scroll.onScroll}
          onKeyDown={scroll.onKey}
        >
          <Rows {...{ log, look, mark, scroll, groups, folds, folded, fold, show, chosen, choose }} />
          <div style={{ height: `${scroll.spacer}px` }} />
        </section>
        <MatchMap lines={matches} total={log.total} goTo={goToLine} />
      </div>
      {long !== null && <WholeLine path={log.path} line={long} onClose={() => show(null)} />}
      <footer class="border-t border-line px-3 py-1.5 text-xs text-soft" aria-live="polite">
        {log.end === null ? 'The attempt goes on; new lines appear by themselves.' : endWords(log)}
      </footer>
    </section>
  );
}

/** A short log needs no tall frame. One whose lines are wrapped may need more than it has lines. */
function frameRows(rows: number, isWrapped: boolean): number {
  return isWrapped ? Math.max(MANY_ROWS, rows) : Math.min(MANY_ROWS, rows + 1);
}

const MANY_ROWS = 200;

function Phases({ log, spoken, begunAt, endedAt, goToLine }: LinesProps & { goToLine: (line: number) => void }) {
  const now = useNow();
  const { marks } = log;
  const isRunning = endedAt === null && log.end === null;
  // Of an attempt that is not known yet nothing can be told.
  const phases = begunAt === null ? [] : phasesOf({ marks, spoken, isRunning, since: begunAt, until: endedAt ?? now });
  return <PhaseStrip phases={phases} goTo={goToLine} />;
}

interface RowsProps {
  readonly log: LogLines;
  readonly look: LogLook;
  readonly mark: string;
  readonly scroll: LogScroll;
  readonly groups: ReadonlyMap<number, Group>;
  readonly folds: Folds;
  readonly folded: ReadonlySet<number>;
  readonly chosen: Chosen | null;
  fold(line: number): void;
  show(line: number): void;
  choose(line: number, isRange: boolean): void;
}

function Rows({ log, look, mark, scroll, groups, folds, folded, fold, show, chosen, choose }: RowsProps) {
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
            {...{ number, mark }}
            isWrapped={look.isWrapped}
            time={timeOf(log, number, look.times)}
            group={groups.get(number)}
            isFolded={folded.has(number)}
            isChosen={chosen !== null && number >= chosen.from && number <= chosen.to}
            onFold={fold}
            onShow={show}
            onChoose={choose}
          />
        ))}
        {log.total === 0 && log.isOpen && (
          <p class="p-4 font-sans text-soft">{log.problem ?? 'Nothing was printed yet.'}</p>
        )}
      </div>
    </div>
  );
}

function useFolds(log: LogLines) {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const { marks, total } = log;
  const all = useMemo(() => groupsOf(marks, total), [marks.length, total]);
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

function useChosen(log: LogLines, goToLine: (line: number) => void) {
  const [chosen, setChosen] = useState<Chosen | null>(() => readChosen(location.hash));
  useEffect(() => {
    if (log.isOpen && chosen !== null) goToLine(chosen.from);
  }, [log.isOpen]);
  useEffect(() => {
    const onHash = () => setChosen(readChosen(location.hash));
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  const choose = (line: number, isRange: boolean) => {
    const next = isRange && chosen !== null ? readChosen(`#L${chosen.from}-L${line}`) : { from: line, to: line };
    if (next === null) return;
    setChosen(next);
    history.replaceState(null, '', `${location.pathname}${location.search}${hashOf(next)}`);
  };
  return { chosen, choose };
}

function endWords({ end }: LogLines): string {
  if (end?.signal != null) return `The attempt was ended by ${end.signal}.`;
  if (end?.exit != null) return `The attempt ended with exit status ${end.exit}.`;
  return 'The attempt is over.';
}
