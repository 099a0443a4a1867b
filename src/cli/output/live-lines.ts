/**
 * Lines that a terminal redraws in place. Without a terminal they are printed only after a relevant change, so that a log
 * file stays readable.
 */
import { fit, screenOf } from './screen.ts';

export interface LiveLines {
  show(lines: readonly string[]): void;
  end(): void;
}

const UP = '\u001b[A';
const CLEAR_BELOW = '\u001b[J';

export function liveLines({ isQuiet }: { readonly isQuiet: boolean }): LiveLines {
  const { isTerminal } = screenOf();
  let drawn = 0;
  let lastKey = '';
  return {
    show(lines) {
      if (isQuiet) return;
      if (isTerminal) {
        const { width, height } = screenOf();
        const shown = lines.slice(0, height - 1).map((line) => (line.includes('\u001b') ? line : fit(line, width)));
        process.stdout.write(`\r${UP.repeat(drawn)}${CLEAR_BELOW}${shown.map((line) => `${line}\n`).join('')}`);
        drawn = shown.length;
        return;
      }
      // Only the count and the first line are compared: the other lines contain times, which always change.
      const key = lines.length === 0 ? '' : `${lines.length} ${lines[0]}`;
      if (key !== lastKey && lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
      lastKey = key;
    },
    end() {
      drawn = 0;
    },
  };
}
