/** The toolbar of a log: search, display options, copy, download. */
import { useState } from 'preact/hooks';
import { bytes } from '../../../src/wire/spans.ts';
import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import { Button } from '../ui/button.tsx';
import { readLine } from './ansi.ts';
import type { LogLine } from './live-lines.ts';
import type { LogDisplay, Times } from './log-display.ts';
import { TIMES } from './log-display.ts';
import type { LogLines } from './log-lines.ts';
import { LogSearch } from './log-search.tsx';
import type { LineRange } from './selected-lines.ts';
import { MAX_COPIED_LINES } from './selected-lines.ts';
import type { LogScroll } from './use-log-scroll.ts';

interface LogBarProps {
  readonly log: LogLines;
  readonly display: LogDisplay;
  readonly selected: LineRange | null;
  readonly scroll: LogScroll;
  setDisplay(display: LogDisplay): void;
  goToLine(line: number): void;
  onHighlight(text: string): void;
  onMatches(lines: readonly number[]): void;
}

export function LogBar({ log, display, selected, scroll, setDisplay, goToLine, onHighlight, onMatches }: LogBarProps) {
  const follow = (isOn: boolean) => scroll.goTo(isOn ? scroll.most : scroll.place - 1);
  return (
    <div class="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
      <LogSearch log={log} goTo={goToLine} onHighlight={onHighlight} onMatches={onMatches} />
      <div class="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1">
        {selected !== null && <CopyLines log={log} selected={selected} />}
        <span class="numbers text-xs text-soft">
          {log.total.toLocaleString('en')} lines · {bytes(log.size)}
        </span>
        <select
          aria-label="Timestamps"
          class="rounded-md border border-line bg-sheet px-1 py-0.5 text-sm"
          value={display.times}
          onChange={({ currentTarget: { value } }) => setDisplay({ ...display, times: value as Times })}
        >
          {TIMES.map((times) => (
            <option key={times}>{times}</option>
          ))}
        </select>
        <Toggle isOn={display.isWrapped} set={(isWrapped) => setDisplay({ ...display, isWrapped })} label="wrap" />
        <Toggle isOn={scroll.isFollowing} set={follow} label="follow" />
        <a class="link text-sm" href={addressOf(log.path)} download>
          download
        </a>
      </div>
    </div>
  );
}

function CopyLines({ log, selected: { from, to } }: { log: LogLines; selected: LineRange }) {
  const [status, setStatus] = useState('');
  const count = Math.min(MAX_COPIED_LINES, to - from + 1);
  const copy = async () => {
    const page = await call<{ lines: readonly LogLine[] }>(log.path, { query: { line: from, lines: count } });
    await navigator.clipboard.writeText(page.lines.map(({ text }) => plain(text)).join('\n'));
    setStatus(`${page.lines.length} copied`);
  };
  return (
    <>
      <Button onClick={() => void copy().catch(() => setStatus('not copied'))}>
        {count === 1 ? `Copy line ${from}` : `Copy ${count} lines`}
      </Button>
      <span role="status" class="text-xs text-soft">
        {status}
      </span>
    </>
  );
}

function plain(text: string): string {
  return readLine(text)
    .pieces.map((piece) => piece.text)
    .join('');
}

function Toggle({ isOn, set, label }: { isOn: boolean; set: (on: boolean) => void; label: string }) {
  return (
    <label class="flex items-center gap-1 text-sm">
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
  );
}
