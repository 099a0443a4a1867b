/** What differs between two texts: lines that only the first has, lines that only the second has, a few around them. */
import { LogText } from '../log/log-text.tsx';
import type { DiffLine } from './line-diff.ts';
import { diffLines, hunksOf } from './line-diff.ts';

interface DifferenceProps {
  readonly name: string;
  readonly a: readonly string[];
  readonly b: readonly string[];
  sameAs?(line: string): string;
}

const AROUND = 3;
const LOOKS: Readonly<Record<DiffLine['side'], readonly [sign: string, look: string, words: string]>> = {
  both: [' ', 'text-soft', ''],
  a: ['−', 'bg-bad-ground', 'only in the first: '],
  b: ['+', 'bg-good-ground', 'only in the second: '],
};

export function Difference({ name, a, b, sameAs }: DifferenceProps) {
  const hunks = hunksOf(diffLines(a, b, sameAs), AROUND);
  if (hunks.length === 0) return <p class="text-soft">They are alike.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section
      class="max-h-[60vh] overflow-auto rounded-md bg-ground py-2 font-mono text-[13px]"
      tabIndex={0}
      aria-label={name}
    >
      {hunks.map(({ lines, skipped }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
        <div key={place}>
          {lines.map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
            <Line key={at} line={line} />
          ))}
          {skipped > 0 && <p class="px-3 py-0.5 text-soft">… {skipped.toLocaleString('en')} alike</p>}
        </div>
      ))}
    </section>
  );
}

function Line({ line: { side, text } }: { line: DiffLine }) {
  const [sign, look, words] = LOOKS[side];
  return (
    <div class={`flex px-3 leading-[18px] whitespace-pre-wrap ${look}`}>
      <span class="w-5 shrink-0 select-none" aria-hidden="true">
        {sign}
      </span>
      <span class="sr-only">{words}</span>
      <bdi dir="ltr" class="min-w-0 break-all">
        <LogText line={text} />
      </bdi>
    </div>
  );
}
