/**
 * Loaded with --require into the first node of the screenshots: its clock is some hours slow, so that the jobs which it
 * starts have run for hours when the second node adopts them.
 */
const shiftMs = Number(process.env.SCREENSHOTS_SHIFT_MS ?? 0);
const { now } = Date;
globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() - shiftMs);
    else super(...given);
  }

  static now() {
    return now() - shiftMs;
  }
};
