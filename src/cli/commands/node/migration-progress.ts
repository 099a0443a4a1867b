/** How far a move has come, in words: one line that changes on a terminal, a line now and then elsewhere. */
import type { MoveProgress } from '../../../node/migration/migrate-store.ts';
import { plural, span } from '../../../wire/spans.ts';
import { bar, fit, remark, screenOf } from '../../output/screen.ts';

export interface ProgressLines {
  show(progress: MoveProgress): void;
  showFiles(done: number, of: number): void;
  /** Where it stands; empty when nothing was begun. */
  readonly last: string;
  clear(): void;
}

const EVERY_ROWS = 10_000;
const REDRAW_MS = 100;

export function progressLines(isSilent: boolean): ProgressLines {
  const { isTerminal, width } = screenOf(process.stderr);
  let [last, mark, drawnAt] = ['', '', 0];
  let begun = { what: '', rows: 0, at: 0 };
  const tell = (what: string, rows: number, words: (ms: number, since: number) => string): void => {
    const now = performance.now();
    if (begun.what !== what) begun = { what, rows, at: now };
    last = words(now - begun.at, begun.rows);
    const next = `${what} ${Math.floor(rows / EVERY_ROWS)}`;
    if (!isSilent && !isTerminal && next !== mark) remark(last);
    if (!isSilent && isTerminal && (next !== mark || now - drawnAt >= REDRAW_MS)) {
      process.stderr.write(`\r\u001b[K${fit(last, width - 1)}`);
      drawnAt = now;
    }
    mark = next;
  };
  return {
    show: (progress) =>
      tell(`${progress.step} ${progress.part}`, progress.rows, (ms, since) =>
        progressWords(progress, { ms, since, hasBar: isTerminal }),
      ),
    showFiles: (done, of) => tell('files', done, () => `files: ${done} of ${of}`),
    get last() {
      return last;
    },
    clear: () => {
      if (isTerminal && !isSilent) process.stderr.write('\r\u001b[K');
    },
  };
}

export interface Pace {
  /** Since this step of this part began, and how many rows there were then. */
  readonly ms: number;
  readonly since: number;
  readonly hasBar: boolean;
}

const BAR = 24;
const WORDS = { copy: 'copied', compare: 'compared' } as const;

/** `copied jobs: 400 of 1500, 26 %, 12 s left`. */
export function progressWords({ step, part, rows, of }: MoveProgress, { ms, since, hasBar }: Pace): string {
  if (step === 'wait') return `waiting for ${plural(rows, 'job')} to end`;
  const head = `${WORDS[step]} ${part}`;
  if (of === null || of === 0) return `${head}: ${rows}`;
  const percent = Math.min(100, (rows / of) * 100);
  const rate = ms > 0 ? (rows - since) / ms : 0;
  const left = rate > 0 && rows < of ? `, ${span((of - rows) / rate)} left` : '';
  const drawn = hasBar ? `${head} ${bar(percent, BAR)}` : `${head}:`;
  return `${drawn} ${rows} of ${of}, ${Math.floor(percent)} %${left}`;
}
