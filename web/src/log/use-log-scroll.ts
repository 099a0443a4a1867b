/**
 * Virtual scrolling of a log: only visible rows exist. The scroll bar covers the whole log. In a log
 * taller than a browser can scroll, a pixel covers several rows, while the wheel still moves row by row.
 */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export const ROW = 18;
/** Browsers limit the height of an element to a little more than this. */
const MAX_HEIGHT = 8_000_000;

export interface LogScroll {
  readonly frame: RefObject<HTMLElement | null>;
  /** The number of rows above the first visible one. */
  readonly place: number;
  readonly shown: number;
  readonly most: number;
  readonly spacer: number;
  readonly isFollowing: boolean;
  goTo(row: number): void;
  onWheel(event: WheelEvent): void;
  onScroll(): void;
  onKey(event: KeyboardEvent): void;
}

export function useLogScroll(rows: number): LogScroll {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [isFollowing, setFollowing] = useState(true);
  const height = useHeight(frame);
  const shown = Math.max(1, Math.ceil(height / ROW));
  const most = Math.max(0, rows - shown + 1);
  const scale = Math.max(1, (rows * ROW) / MAX_HEIGHT);
  const place = isFollowing ? most : Math.min(top, most);
  const ours = useRef(-1);
  useLayoutEffect(() => {
    const element = frame.current;
    const wanted = (place * ROW) / scale;
    if (element === null || Math.abs(element.scrollTop - wanted) <= 1) return;
    element.scrollTop = wanted;
    ours.current = element.scrollTop;
  });
  const goTo = (row: number) => {
    const next = Math.max(0, Math.min(row, most));
    setTop(next);
    setFollowing(next >= most);
  };
  const onScroll = () => {
    const element = frame.current;
    // The event of a programmatic scroll arrives a frame later, when the position may have changed again.
    if (element === null || Math.abs(element.scrollTop - ours.current) <= 1) return;
    // A resize makes the browser scroll; that is not a user action.
    if (element.clientHeight !== height) return;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 2;
    if (isFollowing && isAtEnd) return;
    const seen = (element.scrollTop * scale) / ROW;
    if (Math.abs(seen - place) > Math.max(1, scale / ROW)) goTo(seen);
  };
  return {
    frame,
    place,
    shown,
    most,
    isFollowing,
    goTo,
    onScroll,
    spacer: (most * ROW) / scale,
    onWheel: (event) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) || most === 0) return;
      event.preventDefault();
      goTo(place + event.deltaY / ROW);
    },
    onKey: (event) => {
      const next = rowByKey(event.key, { place, shown, most });
      if (next === null) return;
      event.preventDefault();
      goTo(next);
    },
  };
}

function rowByKey(key: string, { place, shown, most }: { place: number; shown: number; most: number }): number | null {
  const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: 1 - shown, PageDown: shown - 1 };
  const step = steps[key];
  if (step !== undefined) return place + step;
  return key === 'Home' ? 0 : key === 'End' ? most : null;
}

function useHeight(frame: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(480);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return height;
}
