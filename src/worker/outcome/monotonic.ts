/** Returns the time of a clock that never steps. All threads of the process share it (unlike performance.now). */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
