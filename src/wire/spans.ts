/** Formats times, ages and sizes for people, and durations as settings accept them. Pure. */

const UNITS = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a duration with its two largest units: '2 h 5 m', '45 s', '0.4 s'. */
export function span(ms: number): string {
  if (ms < 0) return '0 s';
  if (ms < 1_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const parts = partsOf(Math.floor(ms / 1_000) * 1_000).slice(0, 2);
  return parts.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

/** Formats a time relative to now with one unit: '2 h ago', 'in 5 m', 'now'. */
export function age(at: number, now: number): string {
  const away = Math.abs(now - at);
  if (away < 1_000) return 'now';
  const [first] = partsOf(Math.floor(away / 1_000) * 1_000);
  const distance = first === undefined ? '' : `${first[0]} ${first[1]}`;
  return at > now ? `in ${distance}` : `${distance} ago`;
}

/** Formats a duration exactly, as a setting accepts it: '1h30m', '250ms'. */
export function exactDuration(ms: number): string {
  const rest = ms % 1_000;
  const whole = partsOf(ms - rest).map(([amount, unit]) => `${amount}${unit}`);
  return [...whole, ...(rest > 0 || whole.length === 0 ? [`${rest}ms`] : [])].join('');
}

/** Formats a size: '512 B', '1.5 KB', '20 MB'. A KB is 1,024 bytes. */
export function bytes(count: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let amount = count;
  let unit = 0;
  for (; amount >= 1024 && unit < units.length - 1; unit++) amount /= 1024;
  return `${unit === 0 || amount >= 10 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}

/** Formats the local time of day, with the date unless it is today's. */
export function clockTime(at: number, now: number): string {
  const [day, time] = localIso(at).split(' ');
  return localIso(now).startsWith(day ?? '') ? (time ?? '') : `${day} ${time}`;
}

/** Formats a time in the local time zone: '2026-03-01 14:05:09'. */
export function localIso(at: number): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function partsOf(ms: number): [number, string][] {
  let left = ms;
  const parts: [number, string][] = [];
  for (const [unit, length] of UNITS) {
    const amount = Math.floor(left / length);
    left -= amount * length;
    if (amount > 0) parts.push([amount, unit]);
  }
  return parts;
}
