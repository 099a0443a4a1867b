/**
 * Progress of a long command on stderr: one line that a terminal redraws, or an occasional line elsewhere, so that a log
 * file stays readable.
 */
import { bytes, span } from '../../wire/spans.ts';
import type { OnBytes } from '../target/files.ts';
import { bar, fit, printNotice, screenOf } from './screen.ts';

export interface ProgressLine {
  /** Shows the text, unless another one was shown a moment ago. */
  show(text: () => string): void;
  clear(): void;
}

const REDRAW_MS = 100;
/** A command that is shorter than this shows no progress. */
const SHOW_AFTER_MS = 300;
/** How often a line is printed where no terminal redraws it. */
const LINE_EVERY_MS = 10_000;

export function progressLine({ isSilent }: { readonly isSilent: boolean }): ProgressLine {
  const screen = screenOf(process.stderr);
  const everyMs = screen.isTerminal ? REDRAW_MS : LINE_EVERY_MS;
  let shownAt = performance.now() + (screen.isTerminal ? SHOW_AFTER_MS - REDRAW_MS : 0);
  let isDrawn = false;
  return {
    show(text) {
      const now = performance.now();
      if (isSilent || now - shownAt < everyMs) return;
      shownAt = now;
      if (!screen.isTerminal) return printNotice(`longhaul: ${text()}`);
      isDrawn = true;
      process.stderr.write(`\r\u001b[K${fit(text(), screen.width - 1)}`);
    },
    clear() {
      if (isDrawn) process.stderr.write('\r\u001b[K');
      isDrawn = false;
    },
  };
}

const BAR = 24;

export function progressBar(label: string): { onBytes: OnBytes; clear(): void } {
  const startedAt = performance.now();
  const line = progressLine({ isSilent: false });
  return {
    onBytes: (done, size) => line.show(() => progressBarText(label, { done, size, ms: performance.now() - startedAt })),
    clear: line.clear,
  };
}

/** `film.mov ████░░░░ 40 % of 2.0 GB, 95 MB/s, 12 s left`. */
export function progressBarText(label: string, { done, size, ms }: { done: number; size: number; ms: number }): string {
  const percent = size === 0 ? 100 : (done / size) * 100;
  const rate = ms > 0 ? done / (ms / 1_000) : 0;
  const left = rate > 0 ? `, ${span(((size - done) / rate) * 1_000)} left` : '';
  return `${label} ${bar(percent, BAR)} ${Math.floor(percent)} % of ${bytes(size)}, ${bytes(rate)}/s${left}`;
}
