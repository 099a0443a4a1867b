/** Layout of a schedule's timeline: hour marks, and runs, of which close ones are merged. Pure. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

export interface Stroke {
  /** 0 to 1000 over the window. */
  readonly x: number;
  readonly count: number;
  readonly firstAt: number;
}

export const TIMELINE_WIDTH = 1_000;
const HOUR_MS = 3_600_000;

/** Returns one stroke for all runs within two thousandths of the window. */
export function strokesOf(runs: readonly number[], window: Window): readonly Stroke[] {
  const strokes: Stroke[] = [];
  for (const at of runs) {
    const x = placeOf(at, window);
    const last = strokes.at(-1);
    if (last !== undefined && x - last.x < 2) strokes[strokes.length - 1] = { ...last, count: last.count + 1 };
    else strokes.push({ x, count: 1, firstAt: at });
  }
  return strokes;
}

/** The full hours of the window in local time; every third one has a label. */
export function hoursOf(window: Window): readonly { readonly x: number; readonly label: string | null }[] {
  const begin = new Date(window.from);
  begin.setMinutes(0, 0, 0);
  const hours = [];
  for (let at = begin.getTime() + HOUR_MS; at <= window.until; at += HOUR_MS) {
    const hour = new Date(at).getHours();
    hours.push({ x: placeOf(at, window), label: hour % 3 === 0 ? `${String(hour).padStart(2, '0')}:00` : null });
  }
  return hours;
}

/** The width of a run; never too narrow to see. */
export function widthOf(ms: number, { from, until }: Window): number {
  return Math.max(3, Math.round((ms / (until - from)) * TIMELINE_WIDTH));
}

function placeOf(at: number, { from, until }: Window): number {
  return Math.round(((at - from) / (until - from)) * TIMELINE_WIDTH);
}
