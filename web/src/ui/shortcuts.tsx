/** Keyboard shortcuts: `g` and a letter opens a page, `j` and `k` move through rows, `?` lists the shortcuts. */
import { useEffect, useState } from 'preact/hooks';
import { go } from '../data/location.ts';
import { Dialog } from './dialog.tsx';
import { isTyping } from './search-box.tsx';

const PAGES: Readonly<Record<string, readonly [path: string, label: string]>> = {
  r: ['', 'running jobs'],
  q: ['queues', 'queues'],
  c: ['schedules', 'schedules'],
  f: ['failures', 'failures'],
  w: ['workers', 'workers'],
  s: ['settings', 'settings'],
};
const KEYS: readonly (readonly [keys: string, label: string])[] = [
  ['/', 'search'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ...Object.entries(PAGES).map(([key, [, label]]) => [`g ${key}`, label] as const),
  ['?', 'keyboard shortcuts'],
];
const SEQUENCE_MS = 1_000;

export function Shortcuts() {
  const [isShown, show] = useState(false);
  useEffect(() => {
    let goAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey) return;
      const page = Date.now() - goAt < SEQUENCE_MS ? PAGES[event.key] : undefined;
      goAt = event.key === 'g' ? Date.now() : 0;
      if (page !== undefined) go(page[0]);
      else if (event.key === '?') show(true);
      else if (event.key === 'j') moveInRows(1);
      else if (event.key === 'k') moveInRows(-1);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!isShown) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => show(false)}>
      <dl class="grid grid-cols-[6rem_1fr] gap-y-1.5">
        {KEYS.map(([keys, label]) => (
          <div key={keys} class="contents">
            <dt>
              <kbd class="rounded border border-line bg-raised px-1.5 font-mono">{keys}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Focuses the first link of the next or previous row; Enter opens it. */
function moveInRows(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('main tbody tr a')].filter(
    (link) => link.closest('tr')?.querySelector('a') === link,
  );
  const at = links.findIndex((link) => link === document.activeElement);
  links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
