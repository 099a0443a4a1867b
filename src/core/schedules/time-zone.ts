/**
 * Time zones by Intl: the offset of a zone from UTC at a moment, and where it changes.
 *
 * A *civil* time is what wall clocks show, written as the epoch milliseconds at which UTC would show the same. Pure
 * except for the time zone tables of the runtime. Never called for times before 1970.
 */
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
/** Days cached for one zone: more than ten years, some hundred kilobytes. */
const MAX_DAYS = 4_096;
/** No zone has ever stepped by more than a day. */
const MAX_STEP_MS = DAY_MS + 3_600_000;

export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  /** The offset of each whole UTC day in which it does not change; NaN for a day in which it does. */
  readonly #days = new Map<number, number>();

  /** Throws RangeError if there is no such zone; `findZone` checks first. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    this.name = name;
  }

  /** Returns milliseconds ahead of UTC at that moment. */
  offsetAt(at: number): number {
    const day = Math.floor(at / DAY_MS);
    const known = this.#days.get(day) ?? this.#cacheDay(day);
    return Number.isNaN(known) ? this.#readOffset(at) : known;
  }

  civilAt(at: number): number {
    return at + this.offsetAt(at);
  }

  /**
   * Returns the first moment in (from, to] at which the offset differs from that at `from`, or null. Searches a day and
   * a bit ahead.
   */
  stepWithin(from: number, to: number): number | null {
    const end = Math.min(to, from + MAX_STEP_MS);
    const before = this.offsetAt(from);
    return this.offsetAt(end) === before ? null : this.#firstOther(before, from, end);
  }

  /**
   * Returns when clocks show this civil time: the first such moment or, if they skip it, the first moment after the
   * gap.
   */
  momentOf(civil: number): { readonly at: number; readonly isSkipped: boolean } {
    const offsets = [this.offsetAt(civil - MAX_STEP_MS), this.offsetAt(civil + MAX_STEP_MS)];
    const moments = offsets.map((offset) => civil - offset).sort((one, other) => one - other);
    const at = moments.find((moment) => this.civilAt(moment) === civil);
    if (at !== undefined) return { at, isSkipped: false };
    const [early = civil, late = civil] = moments;
    return { at: this.#firstOther(this.offsetAt(early - SECOND_MS), early - SECOND_MS, late), isSkipped: true };
  }

  /** Binary search to the second: clocks step on whole seconds. */
  #firstOther(offset: number, from: number, to: number): number {
    let [same, other] = [Math.floor(from / SECOND_MS), Math.ceil(to / SECOND_MS)];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.offsetAt(middle * SECOND_MS) === offset) same = middle;
      else other = middle;
    }
    return other * SECOND_MS;
  }

  #cacheDay(day: number): number {
    const [first, last] = [this.#readOffset(day * DAY_MS), this.#readOffset((day + 1) * DAY_MS)];
    const offset = first === last ? first : Number.NaN;
    if (this.#days.size >= MAX_DAYS) this.#days.clear();
    this.#days.set(day, offset);
    return offset;
  }

  #readOffset(at: number): number {
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    const parts = this.#format.formatToParts(second);
    const read = (type: Intl.DateTimeFormatPartTypes): number =>
      Number(parts.find((part) => part.type === type)?.value ?? 0);
    const day = Date.UTC(read('year'), read('month') - 1, read('day'));
    return day + ((read('hour') * 60 + read('minute')) * 60 + read('second')) * SECOND_MS - second;
  }
}

const zones = new Map<string, TimeZone>();
const MAX_ZONES = 1_000;
/** `UTC+2` and the like are rejected: Intl accepts some of them, and they have no daylight saving. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** Returns the zone of an IANA name, or null if there is none. */
export function findZone(name: string): TimeZone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (!ZONE_NAME.test(name)) return null;
  try {
    const zone = new TimeZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(name, zone);
    return zone;
  } catch {
    return null;
  }
}

export function zoneOf(name: string): TimeZone {
  const zone = findZone(name);
  if (zone === null) throw new Error(`there is no time zone ${name}`);
  return zone;
}
