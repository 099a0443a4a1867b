/** What can be done with a log: search, look, copy of the chosen lines, download. */
import { useState } from 'preact/hooks';
import { bytes } from '../../../src/wire/spans.ts';
import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import { Button } from '../ui/button.tsx';
import type { Chosen } from './chosen-lines.ts';
import { MOST_COPIED } from './chosen-lines.ts';
import type { LogLine } from './live-lines.ts';
import type { LogLines } from './log-lines.ts';
import type { LogLook, Times } from './log-look.ts';
import { TIMES } from './log-look.ts';
import { LogSearch } from './log-search.tsx';
import { readLine } from './sgr.ts';
import type { LogScroll } from './use-log-scroll.ts';

interface LogBarProps {
  readonly log: LogLines;
  readonly look: LogLook;
  readonly chosen: Chosen | null;
  readonly scroll: LogScroll;
  setLook(look: LogLook): void;
  goToLine(line: number): void;
  onMark(text: string): void;
  onMatches(lines: readonly number[]): void;
}

export function LogBar({ log, look, chosen, scroll, setLook, goToLine, onMark, onMatches }: LogBarProps) {
  const follow = (isOn: boolean) => scroll.goTo(isOn ? scroll.most : scroll.place - 1);
  return (
    <div class="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
      <LogSearch log={log} goTo={goToLine} onMark={onMark} onMatches={onMatches} />
      <div class="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1">
        {chosen !== null && <CopyLines log={log} chosen={chosen} />}
        <span class="numbers text-xs text-soft">
          {log.total.toLocaleString('en')} lines · {bytes(log.size)}
        </span>
        <select
          aria-label="Times of lines"
          class="rounded-md border border-line bg-sheet px-1 py-0.5 text-sm"
          value={look.times}
          onChange={({ currentTarget: { value } }) => setLook({ ...look, times: value as Times })}
        >
          {TIMES.map((times) => (
            <option key={times}>{times}</option>
          ))}
        </select>
        <Toggle isOn={look.isWrapped} set={(isWrapped) => setLook({ ...look, isWrapped })} words="wrap" />
        <Toggle isOn={scroll.isFollowing} set={follow} words="follow" />
        <a class="link text-sm" href={addressOf(log.path)} download>
          download
        </a>
      </div>
    </div>
  );
}

function CopyLines({ log, chosen: { from, to } }: { log: LogLines; chosen: Chosen }) {
  const [said, say] = useState('');
  const count = Math.min(MOST_COPIED, to - from + 1);
  const copy = async () => {
    const page = await call<{ lines: readonly LogLine[] }>(log.path, { query: { line: from, lines: count } });
    await navigator.clipboard.writeText(page.lines.map(({ text }) => plain(text)).join('\n'));
    say(`${page.lines.length} copied`);
  };
  return (
    <>
      <Button onClick={() => void copy().catch(() => say('not copied'))}>
        {count === 1 ? `Copy line ${from}` : `Copy ${count} lines`}
      </Button>
      <span role="status" class="text-xs text-soft">
        {said}
      </span>
    </>
  );
}

function plain(text: string): string {
  return readLine(text)
    .pieces.map((piece) => piece.text)
    .join('');
}

function Toggle({ isOn, set, words }: { isOn: boolean; set: (on: boolean) => void; words: string }) {
  return (
    <label class="flex items-center gap-1 text-sm">
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.currentTarget.checked)} /> {words}
    </label>
  );
}
