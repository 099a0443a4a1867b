/**
 * Time zones by Intl alone: how far a zone's clocks are ahead of UTC at a moment, and where they step.
 *
 * A *civil* time is what clocks on the wall show, written as the epoch milliseconds that UTC would have if it showed
 * the same. Pure but for the tables of zones that come with the runtime. Never asked for times before 1970.
 */
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
/** Days kept of one zone: ten years and more, some hundred kilobytes. */
const MOST_DAYS = 4_096;
/** No zone has stepped by more than a day. */
const LONGEST_STEP_MS = DAY_MS + 3_600_000;

export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  /** The offset of each whole UTC day in which it does not change; NaN for a day in which it does. */
  readonly #days = new Map<number, number>();

  /** Throws RangeError where there is no such zone; `findZone` asks first. */
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

  /** Milliseconds ahead of UTC at that moment. */
  offsetAt(at: number): number {
    const day = Math.floor(at / DAY_MS);
    const known = this.#days.get(day) ?? this.#learnDay(day);
    return Number.isNaN(known) ? this.#look(at) : known;
  }

  civilAt(at: number): number {
    return at + this.offsetAt(at);
  }

  /** The first moment in (from, to] at which the offset is not what it was, or null. Looks a day and a bit ahead. */
  stepWithin(from: number, to: number): number | null {
    const end = Math.min(to, from + LONGEST_STEP_MS);
    const before = this.offsetAt(from);
    return this.offsetAt(end) === before ? null : this.#firstOther(before, from, end);
  }

  /**
   * When clocks show this civil time: the first such moment; or, where they skip it, the first moment after the gap.
   */
  momentOf(civil: number): { readonly at: number; readonly isSkipped: boolean } {
    const offsets = [this.offsetAt(civil - LONGEST_STEP_MS), this.offsetAt(civil + LONGEST_STEP_MS)];
    const moments = offsets.map((offset) => civil - offset).sort((one, other) => one - other);
    const at = moments.find((moment) => this.civilAt(moment) === civil);
    if (at !== undefined) return { at, isSkipped: false };
    const [early = civil, late = civil] = moments;
    return { at: this.#firstOther(this.offsetAt(early - SECOND_MS), early - SECOND_MS, late), isSkipped: true };
  }

  /** By halves, to the second: clocks step on whole seconds. */
  #firstOther(offset: number, from: number, to: number): number {
    let [same, other] = [Math.floor(from / SECOND_MS), Math.ceil(to / SECOND_MS)];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.offsetAt(middle * SECOND_MS) === offset) same = middle;
      else other = middle;
    }
    return other * SECOND_MS;
  }

  #learnDay(day: number): number {
    const [first, last] = [this.#look(day * DAY_MS), this.#look((day + 1) * DAY_MS)];
    const offset = first === last ? first : Number.NaN;
    if (this.#days.size >= MOST_DAYS) this.#days.clear();
    this.#days.set(day, offset);
    return offset;
  }

  #look(at: number): number {
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    const parts = this.#format.formatToParts(second);
    const read = (type: Intl.DateTimeFormatPartTypes): number =>
      Number(parts.find((part) => part.type === type)?.value ?? 0);
    const day = Date.UTC(read('year'), read('month') - 1, read('day'));
    return day + ((read('hour') * 60 + read('minute')) * 60 + read('second')) * SECOND_MS - second;
  }
}

const zones = new Map<string, TimeZone>();
const MOST_ZONES = 1_000;
/** `UTC+2` and the like are refused: Intl takes some of them, and none of them steps. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** The zone of an IANA name, or null where there is none. */
export function findZone(name: string): TimeZone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (!ZONE_NAME.test(name)) return null;
  try {
    const zone = new TimeZone(name);
    if (zones.size >= MOST_ZONES) zones.clear();
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
