/** The search in a log: how many were found, and from one to the next; and the way to the first error. */
import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import type { SearchWishes, Way } from './use-log-search.ts';
import { useLogSearch } from './use-log-search.ts';

export function LogSearch(wishes: SearchWishes) {
  const [text, setText] = useState('');
  const [way, setWay] = useState<Way>({ isExpression: false, isLoose: true });
  const { found, at, problem, search, step, firstError } = useLogSearch(wishes);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void search(text, way);
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
      <Mode
        isOn={way.isExpression}
        words=".*"
        title="as an extended expression"
        set={(isExpression) => setWay({ ...way, isExpression })}
      />
      <Mode
        isOn={!way.isLoose}
        words="Aa"
        title="capital letters count"
        set={(isStrict) => setWay({ ...way, isLoose: !isStrict })}
      />
      <span class="numbers text-xs text-soft" aria-live="polite">
        {found !== null && countWords(found.matches.length, { at, hasMore: found.next !== null })}
      </span>
      {found !== null && found.matches.length > 1 && <Steps step={step} />}
      <Button onClick={() => void firstError()}>First error</Button>
      {problem !== null && <span class="text-xs text-bad">{problem}</span>}
    </form>
  );
}

interface ModeProps {
  readonly isOn: boolean;
  readonly words: string;
  readonly title: string;
  set(isOn: boolean): void;
}

function Mode({ isOn, words, title, set }: ModeProps) {
  return (
    <button
      type="button"
      class={`rounded border px-1.5 py-px font-mono text-xs ${isOn ? 'border-accent bg-accent-ground text-accent' : 'border-line text-soft hover:text-ink'}`}
      aria-pressed={isOn}
      aria-label={title}
      title={title}
      onClick={() => set(!isOn)}
    >
      {words}
    </button>
  );
}

function countWords(count: number, { at, hasMore }: { at: number; hasMore: boolean }): string {
  if (count === 0) return 'nothing found';
  return `${at + 1} of ${count}${hasMore ? ' and more' : ''}`;
}

function Steps({ step }: { step: (by: 1 | -1) => void }) {
  return (
    <>
      <Button onClick={() => step(-1)} title="The one before">
        ↑
      </Button>
      <Button onClick={() => step(1)} title="The next one">
        ↓
      </Button>
    </>
  );
}
