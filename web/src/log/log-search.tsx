/** Search in the whole log, by the node, also while it grows: how many there are, and from one to the next. */
import { useState } from 'preact/hooks';
import { CallError, call } from '../data/call.ts';
import { Button } from '../ui/button.tsx';
import type { LogLines } from './log-lines.ts';

interface Found {
  readonly matches: readonly { readonly line: number }[];
  readonly stopped: string | null;
  readonly next: string | null;
}

interface SearchProps {
  readonly log: LogLines;
  goTo(line: number): void;
  onMark(text: string): void;
  onMatches(lines: readonly number[]): void;
}

const LIMIT = 1_000;

export function LogSearch({ log, goTo, onMark, onMatches }: SearchProps) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const show = (answer: Found, place: number) => {
    const line = answer.matches[place]?.line;
    setAt(place);
    if (line !== undefined) goTo(line);
  };
  const search = async () => {
    setProblem(null);
    onMark(text);
    onMatches([]);
    if (text === '') return setFound(null);
    try {
      const answer = await call<Found>(`${log.path}/search`, { query: { q: text, limit: LIMIT } });
      setFound(answer);
      onMatches(answer.matches.map(({ line }) => line));
      show(answer, 0);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setProblem(error.message);
    }
  };
  const step = (by: number) => {
    if (found === null || found.matches.length === 0) return;
    show(found, (at + by + found.matches.length) % found.matches.length);
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void search();
  };
  const firstError = () => {
    void call<Found>(`${log.path}/search`, {
      query: { q: 'error|exception|traceback|fatal', regex: 'true', ignoreCase: 'true', limit: 1 },
    }).then(
      (answer) => {
        setFound(answer);
        show(answer, 0);
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
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
      {found !== null && (
        <span class="numbers text-xs text-soft" aria-live="polite">
          {found.matches.length === 0
            ? 'nothing found'
            : `${at + 1} of ${found.matches.length}${found.next === null ? '' : ' and more'}`}
        </span>
      )}
      {found !== null && found.matches.length > 1 && (
        <>
          <Button onClick={() => step(-1)} title="The one before">
            ↑
          </Button>
          <Button onClick={() => step(1)} title="The next one">
            ↓
          </Button>
        </>
      )}
      <Button onClick={firstError}>First error</Button>
      {problem !== null && <span class="text-xs text-bad">{problem}</span>}
    </form>
  );
}
