/** Uploads files to a job, with a progress bar on a terminal if the upload takes long. */

import { bytes, span } from '../../../wire/spans.ts';
import { bar, fit, screenOf } from '../../output/screen.ts';
import type { FileInfo, OnBytes } from '../../target/files.ts';
import type { Target } from '../../target/open-target.ts';

export async function sendFiles(target: Target, id: string, paths: readonly string[]): Promise<readonly FileInfo[]> {
  const sent: FileInfo[] = [];
  for (const path of paths) {
    const progress = progressBar(path);
    try {
      sent.push(await target.files.put(id, path, progress.onBytes));
    } finally {
      progress.clear();
    }
  }
  return sent;
}

const REDRAW_MS = 100;
/** A transfer that is shorter than this shows no bar. */
const BAR_AFTER_MS = 300;
const BAR = 24;

export function progressBar(label: string): { onBytes: OnBytes; clear(): void } {
  const startedAt = performance.now();
  let drawnAt = startedAt + BAR_AFTER_MS - REDRAW_MS;
  let isDrawn = false;
  const screen = screenOf(process.stderr);
  return {
    onBytes(done, size) {
      const now = performance.now();
      if (!screen.isTerminal || now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      isDrawn = true;
      const text = fit(progressBarText(label, { done, size, ms: now - startedAt }), screen.width - 1);
      process.stderr.write(`\r\u001b[K${text}`);
    },
    clear() {
      if (isDrawn) process.stderr.write('\r\u001b[K');
    },
  };
}

/** `film.mov ████░░░░ 40 % of 2.0 GB, 95 MB/s, 12 s left`. */
export function progressBarText(label: string, { done, size, ms }: { done: number; size: number; ms: number }): string {
  const percent = size === 0 ? 100 : (done / size) * 100;
  const rate = ms > 0 ? done / (ms / 1_000) : 0;
  const left = rate > 0 ? `, ${span(((size - done) / rate) * 1_000)} left` : '';
  return `${label} ${bar(percent, BAR)} ${Math.floor(percent)} % of ${bytes(size)}, ${bytes(rate)}/s${left}`;
}
