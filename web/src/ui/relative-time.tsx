/** A relative time that updates itself, with the exact time on hover. All instances share one timer. */
import { useEffect, useState } from 'preact/hooks';
import { age, localIso, span } from '../../../src/wire/spans.ts';

const tickers = new Set<() => void>();
let timer = 0;

/** Returns the current time, updated every second while the tab is visible. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = () => setNow(Date.now());
    tickers.add(tick);
    if (tickers.size === 1) timer = window.setInterval(tickAll, 1_000);
    return () => {
      tickers.delete(tick);
      if (tickers.size === 0) clearInterval(timer);
    };
  }, []);
  return now;
}

function tickAll(): void {
  if (!document.hidden) for (const tick of tickers) tick();
}

export function RelativeTime({ at }: { at: number | null | undefined }) {
  const now = useNow();
  if (at === null || at === undefined) return <span class="text-soft">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={localIso(at)} class="numbers whitespace-nowrap">
      {age(at, now)}
    </time>
  );
}

/** Time elapsed since `at`. */
export function Elapsed({ at }: { at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={`since ${localIso(at)}`} class="numbers whitespace-nowrap">
      {span(now - at)}
    </time>
  );
}
