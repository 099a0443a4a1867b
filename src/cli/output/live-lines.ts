/**
 * Lines that are drawn again and again in the same place of a terminal. Where there is none, they are printed when what
 * they say has changed, so that a log file of them can be read.
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
  let before = '';
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
      // Times move on by themselves: that is no news.
      const news = lines.length === 0 ? '' : `${lines.length} ${lines[0]}`;
      if (news !== before && lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
      before = news;
    },
    end() {
      drawn = 0;
    },
  };
}
