/** Where the runs of a lane stand in its window: the hours as marks, and runs too close to tell apart as one. Pure. */
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

export const LANE_WIDTH = 1_000;
const HOUR_MS = 3_600_000;

/** One stroke for all runs within two thousandths of the window. */
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

/** The full hours of the window by the clock of whoever looks; every third one has its time written. */
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

/** How wide a run of that length is; never so narrow that it cannot be seen. */
export function widthOf(ms: number, { from, until }: Window): number {
  return Math.max(3, Math.round((ms / (until - from)) * LANE_WIDTH));
}

function placeOf(at: number, { from, until }: Window): number {
  return Math.round(((at - from) / (until - from)) * LANE_WIDTH);
}
