/** The search in a log: how many were found, and from one to the next; and the way to the first error. */
import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import type { SearchWishes } from './use-log-search.ts';
import { useLogSearch } from './use-log-search.ts';

export function LogSearch(wishes: SearchWishes) {
  const [text, setText] = useState('');
  const { found, at, problem, search, step, firstError } = useLogSearch(wishes);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void search(text);
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
      <span class="numbers text-xs text-soft" aria-live="polite">
        {found !== null && countWords(found.matches.length, { at, hasMore: found.next !== null })}
      </span>
      {found !== null && found.matches.length > 1 && <Steps step={step} />}
      <Button onClick={() => void firstError()}>First error</Button>
      {problem !== null && <span class="text-xs text-bad">{problem}</span>}
    </form>
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
