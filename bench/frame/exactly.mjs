/** Checks that each of the jobs 0 to count - 1 was handled exactly once. */
export function exactly(count) {
  const times = new Uint8Array(count);
  let unknown = 0;
  return {
    saw: (n) => {
      if (Number.isInteger(n) && n >= 0 && n < count) times[n] += 1;
      else unknown += 1;
    },
    check: () => {
      const lost = times.filter((each) => each === 0).length;
      const repeated = times.filter((each) => each > 1).length;
      if (lost + repeated + unknown === 0) return;
      throw new Error(`of ${count} jobs ${lost} were lost, ${repeated} handled more than once, ${unknown} unknown`);
    },
  };
}
