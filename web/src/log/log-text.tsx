/** One line of a log as text nodes, in its colours. What fits no class gets its colour by a style property, never by markup. */

import type { Colour, Look } from './sgr.ts';
import { overwritten, PLAIN, readLine } from './sgr.ts';

export function LogText({ line, before = PLAIN, mark }: { line: string; before?: Look; mark?: string | undefined }) {
  const { pieces } = readLine(overwritten(line), before);
  return (
    <>
      {pieces.map(({ text, look }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
        <span key={place} class={classOf(look)} style={styleOf(look)}>
          <Marked text={text} mark={mark} />
        </span>
      ))}
    </>
  );
}

function Marked({ text, mark }: { text: string; mark: string | undefined }) {
  if (mark === undefined || mark === '') return <>{text}</>;
  const parts = partsOf(text, mark);
  return (
    <>
      {parts.map((part, place) =>
        place % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
          <mark key={place} class="rounded-xs bg-warn-ground text-warn">
            {part}
          </mark>
        ),
      )}
    </>
  );
}

/** What is between the marks and what is marked, in turn. Letters count as alike whatever their size. */
function partsOf(text: string, mark: string): readonly string[] {
  const words = new RegExp(`(${mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`, 'gi');
  return text.split(words);
}

function classOf(look: Look): string {
  const [ink, ground] = look.isInverse ? [look.ground, look.ink] : [look.ink, look.ground];
  return [
    typeof ink === 'number' ? `log-ink-${ink}` : look.isInverse && ink === null ? 'log-inverse' : '',
    typeof ground === 'number' ? `log-ground-${ground}` : '',
    look.isBold ? 'font-bold' : '',
    look.isDim ? 'opacity-70' : '',
    look.isItalic ? 'italic' : '',
    look.isUnderlined ? 'underline' : '',
    look.isStruck ? 'line-through' : '',
  ].join(' ');
}

/** Set through the style object, which the page's policy allows; a style attribute in markup it would not. */
function styleOf(look: Look): Record<string, string> | undefined {
  const [ink, ground] = look.isInverse ? [look.ground, look.ink] : [look.ink, look.ground];
  if (!isFixed(ink) && !isFixed(ground)) return undefined;
  return { ...(isFixed(ink) && { color: ink }), ...(isFixed(ground) && { backgroundColor: ground }) };
}

function isFixed(colour: Colour | null): colour is string {
  return typeof colour === 'string';
}
