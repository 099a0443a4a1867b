/** Search in a log: number of matches, next and previous match, first error. */
import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import type { LogSearchOptions, SearchMode } from './use-log-search.ts';
import { useLogSearch } from './use-log-search.ts';

export function LogSearch(options: LogSearchOptions) {
  const [text, setText] = useState('');
  const [mode, setMode] = useState<SearchMode>({ isRegex: false, ignoresCase: true });
  const { found, at, problem, search, step, firstError } = useLogSearch(options);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void search(text, mode);
  };
  return (
    <form class="flex flex-wrap items-center gap-2" onSubmit={onSubmit}>
      <input
        type="search"
        aria-label="Search in the log"
        placeholder="Search in the log"
        class="w-44 rounded-md border border-line bg-ground px-2 py-0.5"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Mode isOn={mode.isRegex} text=".*" title="regular expression" set={(isRegex) => setMode({ ...mode, isRegex })} />
      <Mode
        isOn={!mode.ignoresCase}
        text="Aa"
        title="match case"
        set={(isStrict) => setMode({ ...mode, ignoresCase: !isStrict })}
      />
      <span class="numbers text-xs text-soft" aria-live="polite">
        {found !== null && countText(found.matches.length, { at, hasMore: found.next !== null })}
      </span>
      {found !== null && found.matches.length > 1 && <Steps step={step} />}
      <Button onClick={() => void firstError()}>First error</Button>
      {problem !== null && <span class="text-xs text-bad">{problem}</span>}
    </form>
  );
}

interface ModeProps {
  readonly isOn: boolean;
  readonly text: string;
  readonly title: string;
  set(isOn: boolean): void;
}

function Mode({ isOn, text, title, set }: ModeProps) {
  return (
    <button
      type="button"
      class={`rounded border px-1.5 py-px font-mono text-xs ${isOn ? 'border-accent bg-accent-ground text-accent' : 'border-line text-soft hover:text-ink'}`}
      aria-pressed={isOn}
      aria-label={title}
      title={title}
      onClick={() => set(!isOn)}
    >
      {text}
    </button>
  );
}

function countText(count: number, { at, hasMore }: { at: number; hasMore: boolean }): string {
  if (count === 0) return 'no matches';
  return `${at + 1} of ${count}${hasMore ? ' and more' : ''}`;
}

function Steps({ step }: { step: (by: 1 | -1) => void }) {
  return (
    <>
      <Button onClick={() => step(-1)} title="Previous match">
        ↑
      </Button>
      <Button onClick={() => step(1)} title="Next match">
        ↓
      </Button>
    </>
  );
}
