/**
 * The log of an attempt. Opens at its end, or at the line that the address names, with everything above it reachable,
 * and follows as long as one stays at its end.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Phase as Spoken } from '../../../src/core/phase.ts';
import { useNow } from '../ui/when.tsx';
import type { Chosen } from './chosen-lines.ts';
import { hashOf, readChosen } from './chosen-lines.ts';
import type { Folds, Group } from './folds.ts';
import { foldsOf, groupsOf } from './folds.ts';
import { LogBar } from './log-bar.tsx';
import { LogLines } from './log-lines.ts';
import { LogRow } from './log-row.tsx';
import { MatchMap } from './match-map.tsx';
import { PhaseStrip } from './phase-strip.tsx';
import { phasesOf } from './phases.ts';
import type { LogScroll } from './use-log-scroll.ts';
import { useLogScroll } from './use-log-scroll.ts';

interface LogViewProps {
  readonly job: string;
  readonly attempt: number | 'latest';
  /** What its status texts told of its phases. */
  readonly spoken: readonly Spoken[];
  /** When it ended; null while it goes on. */
  readonly endedAt: number | null;
}

export function LogView({ job, attempt, spoken, endedAt }: LogViewProps) {
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
  return log === null ? null : <Lines key={`${job}/${attempt}`} {...{ log, spoken, endedAt }} />;
}

export interface LogLook {
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
}

type LinesProps = Pick<LogViewProps, 'spoken' | 'endedAt'> & { readonly log: LogLines };

function Lines({ log, spoken, endedAt }: LinesProps) {
  const [look, setLook] = useState<LogLook>({ isWrapped: false, hasTimes: false });
  const [mark, setMark] = useState('');
  const [matches, setMatches] = useState<readonly number[]>([]);
  const { groups, folds, folded, fold, unfold } = useFolds(log);
  const scroll = useLogScroll(folds.rows);
  const goToLine = (line: number) => {
    unfold(line);
    scroll.goTo(folds.rowOf(line) - 1 - Math.floor(scroll.shown / 3));
  };
  const { chosen, choose } = useChosen(log, goToLine);
  return (
    <section aria-label="Log" class="panel overflow-hidden">
      <LogBar {...{ log, look, setLook, chosen, scroll, goToLine }} onMark={setMark} onMatches={setMatches} />
      <Phases {...{ log, spoken, endedAt, goToLine }} />
      <div class="relative">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section
          ref={scroll.frame}
          class="relative h-[60vh] overflow-y-scroll overscroll-contain bg-ground font-mono text-[13px]"
          tabIndex={0}
          aria-label="Lines of the log"
          onWheel={scroll.onWheel}
          onScroll={scroll.onScroll}
          onKeyDown={scroll.onKey}
        >
          <Rows {...{ log, look, mark, scroll, groups, folds, folded, fold, chosen, choose }} />
          <div style={{ height: `${scroll.spacer}px` }} />
        </section>
        <MatchMap lines={matches} total={log.total} goTo={goToLine} />
      </div>
      <footer class="border-t border-line px-3 py-1.5 text-xs text-soft" aria-live="polite">
        {log.end === null ? 'The attempt goes on; new lines appear by themselves.' : endWords(log)}
      </footer>
    </section>
  );
}

function Phases({ log, spoken, endedAt, goToLine }: LinesProps & { goToLine: (line: number) => void }) {
  const now = useNow();
  const { marks } = log;
  const isRunning = endedAt === null && log.end === null;
  const phases = phasesOf({ marks, spoken, isRunning, until: endedAt ?? now });
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
  choose(line: number, isRange: boolean): void;
}

function Rows({ log, look, mark, scroll, groups, folds, folded, fold, chosen, choose }: RowsProps) {
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
            {...{ number, ...look, mark }}
            group={groups.get(number)}
            isFolded={folded.has(number)}
            isChosen={chosen !== null && number >= chosen.from && number <= chosen.to}
            onFold={fold}
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
