/** The progress of a migration: one line that a terminal redraws, or an occasional line elsewhere. */
import type { MigrationProgress } from '../../../node/migration/migrate-store.ts';
import { plural, span } from '../../../wire/spans.ts';
import { bar, fit, printNotice, screenOf } from '../../output/screen.ts';

export interface ProgressLines {
  show(progress: MigrationProgress): void;
  showFiles(done: number, of: number): void;
  /** The last progress text; empty before the first step. */
  readonly last: string;
  clear(): void;
}

const EVERY_ROWS = 10_000;
const REDRAW_MS = 100;

export function progressLines(isSilent: boolean): ProgressLines {
  const { isTerminal, width } = screenOf(process.stderr);
  let [last, lastKey, drawnAt] = ['', '', 0];
  let started = { step: '', rows: 0, at: 0 };
  const update = (step: string, rows: number, text: (ms: number, since: number) => string): void => {
    const now = performance.now();
    if (started.step !== step) started = { step, rows, at: now };
    last = text(now - started.at, started.rows);
    const key = `${step} ${Math.floor(rows / EVERY_ROWS)}`;
    if (!isSilent && !isTerminal && key !== lastKey) printNotice(last);
    if (!isSilent && isTerminal && (key !== lastKey || now - drawnAt >= REDRAW_MS)) {
      process.stderr.write(`\r\u001b[K${fit(last, width - 1)}`);
      drawnAt = now;
    }
    lastKey = key;
  };
  return {
    show: (progress) =>
      update(`${progress.step} ${progress.part}`, progress.rows, (ms, since) =>
        progressText(progress, { ms, since, hasBar: isTerminal }),
      ),
    showFiles: (done, of) => update('files', done, () => `files: ${done} of ${of}`),
    get last() {
      return last;
    },
    clear: () => {
      if (isTerminal && !isSilent) process.stderr.write('\r\u001b[K');
    },
  };
}

export interface Pace {
  /** The time since this step of this part started, and its row count at that time. */
  readonly ms: number;
  readonly since: number;
  readonly hasBar: boolean;
}

const BAR = 24;
const VERBS = { copy: 'copied', compare: 'compared' } as const;

/** `copied jobs: 400 of 1500, 26 %, 12 s left`. */
export function progressText({ step, part, rows, of }: MigrationProgress, { ms, since, hasBar }: Pace): string {
  if (step === 'wait') return `waiting for ${plural(rows, 'job')} to end`;
  const head = `${VERBS[step]} ${part}`;
  if (of === null || of === 0) return `${head}: ${rows}`;
  const percent = Math.min(100, (rows / of) * 100);
  const rate = ms > 0 ? (rows - since) / ms : 0;
  const left = rate > 0 && rows < of ? `, ${span((of - rows) / rate)} left` : '';
  const drawn = hasBar ? `${head} ${bar(percent, BAR)}` : `${head}:`;
  return `${drawn} ${rows} of ${of}, ${Math.floor(percent)} %${left}`;
}
