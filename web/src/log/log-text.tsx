/** One line of a log as coloured text nodes. A colour without a class is set as a style property, never as markup. */

import type { Colour, TextStyle } from './ansi.ts';
import { afterCarriageReturn, PLAIN, readLine } from './ansi.ts';

export function LogText({
  line,
  before = PLAIN,
  highlight,
}: {
  line: string;
  before?: TextStyle;
  highlight?: string | undefined;
}) {
  const { pieces } = readLine(afterCarriageReturn(line), before);
  return (
    <>
      {pieces.map(({ text, style }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other key
        <span key={place} class={classOf(style)} style={styleOf(style)}>
          <Highlighted text={text} highlight={highlight} />
        </span>
      ))}
    </>
  );
}

function Highlighted({ text, highlight }: { text: string; highlight: string | undefined }) {
  if (highlight === undefined || highlight === '') return <>{text}</>;
  const parts = partsOf(text, highlight);
  return (
    <>
      {parts.map((part, place) =>
        place % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other key
          <mark key={place} class="rounded-xs bg-warn-ground text-warn">
            {part}
          </mark>
        ),
      )}
    </>
  );
}

/** Splits a text into parts between and within matches, alternating; ignores case. */
function partsOf(text: string, highlight: string): readonly string[] {
  const pattern = new RegExp(`(${highlight.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`, 'gi');
  return text.split(pattern);
}

function classOf(style: TextStyle): string {
  const [foreground, background] = style.isInverse
    ? [style.background, style.foreground]
    : [style.foreground, style.background];
  return [
    typeof foreground === 'number'
      ? `log-fg-${foreground}`
      : style.isInverse && foreground === null
        ? 'log-inverse'
        : '',
    typeof background === 'number' ? `log-bg-${background}` : '',
    style.isBold ? 'font-bold' : '',
    style.isDim ? 'opacity-70' : '',
    style.isItalic ? 'italic' : '',
    style.isUnderlined ? 'underline' : '',
    style.isStruck ? 'line-through' : '',
  ].join(' ');
}

/** The content security policy allows the style object, but no style attribute in markup. */
function styleOf(style: TextStyle): Record<string, string> | undefined {
  const [foreground, background] = style.isInverse
    ? [style.background, style.foreground]
    : [style.foreground, style.background];
  if (!isFixed(foreground) && !isFixed(background)) return undefined;
  return {
    ...(isFixed(foreground) && { color: foreground }),
    ...(isFixed(background) && { backgroundColor: background }),
  };
}

function isFixed(colour: Colour | null): colour is string {
  return typeof colour === 'string';
}
