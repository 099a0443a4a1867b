/** State of the search in a log. The node searches the whole log, even while it grows. */
import { useState } from 'preact/hooks';
import { CallError, call } from '../data/call.ts';
import type { LogLines } from './log-lines.ts';

interface Found {
  readonly matches: readonly { readonly line: number }[];
  readonly stopped: string | null;
  readonly next: string | null;
}

export interface SearchMode {
  readonly isRegex: boolean;
  /** True for a case-insensitive search. */
  readonly ignoresCase: boolean;
}

export interface LogSearchOptions {
  readonly log: LogLines;
  goTo(line: number): void;
  onHighlight(text: string): void;
  onMatches(lines: readonly number[]): void;
}

const LIMIT = 1_000;
const ERRORS = { q: 'error|exception|traceback|fatal', regex: 'true', ignoreCase: 'true', limit: 1 };

export function useLogSearch({ log, goTo, onHighlight, onMatches }: LogSearchOptions) {
  const [found, setFound] = useState<Found | null>(null);
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const show = (answer: Found, place: number) => {
    const line = answer.matches[place]?.line;
    setAt(place);
    if (line !== undefined) goTo(line);
  };
  const ask = async (query: Readonly<Record<string, string | number>>) => {
    setProblem(null);
    try {
      const answer = await call<Found>(`${log.path}/search`, { query });
      setFound(answer);
      show(answer, 0);
      return answer.matches.map(({ line }) => line);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setProblem(error.message);
      return [];
    }
  };
  const search = async (text: string, { isRegex, ignoresCase }: SearchMode) => {
    onHighlight(isRegex ? '' : text);
    onMatches([]);
    if (text === '') return setFound(null);
    const how = { ...(isRegex && { regex: 'true' }), ...(ignoresCase && { ignoreCase: 'true' }) };
    onMatches(await ask({ q: text, limit: LIMIT, ...how }));
  };
  const step = (by: 1 | -1) => {
    const count = found?.matches.length ?? 0;
    if (found !== null && count > 0) show(found, (at + by + count) % count);
  };
  return { found, at, problem, search, step, firstError: () => ask(ERRORS) };
}
