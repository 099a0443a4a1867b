/** The clock for waits: it never steps, and every thread of the process reads the same one (unlike performance.now). */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
