/** Counts settled jobs until a wanted number is reached, or until an error; calls `onCount` for each. */
export function countdown(onCount = () => {}) {
  let [seen, wanted, resolve, reject] = [0, Number.POSITIVE_INFINITY, () => {}, () => {}];
  const failed = new Promise((_resolve, onFailed) => (reject = onFailed));
  // It may reject before a caller awaits it.
  failed.catch(() => {});
  const check = () => {
    if (seen >= wanted) resolve();
  };
  return {
    count: () => {
      seen += 1;
      onCount();
      check();
    },
    fail: (error) => reject(error instanceof Error ? error : new Error(String(error))),
    reached: (count) => {
      const all = new Promise((onReached) => ([wanted, resolve] = [count, onReached]));
      check();
      return Promise.race([all, failed]);
    },
  };
}
