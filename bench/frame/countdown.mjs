/** Counts settled jobs until as many as were asked for have come, or until something fails. */
export function countdown() {
  let [seen, wanted, resolve, reject] = [0, Number.POSITIVE_INFINITY, () => {}, () => {}];
  const failed = new Promise((_resolve, onFailed) => (reject = onFailed));
  // It may fail before anybody waits.
  failed.catch(() => {});
  const look = () => {
    if (seen >= wanted) resolve();
  };
  return {
    count: () => {
      seen += 1;
      look();
    },
    fail: (error) => reject(error instanceof Error ? error : new Error(String(error))),
    reached: (count) => {
      const all = new Promise((onReached) => ([wanted, resolve] = [count, onReached]));
      look();
      return Promise.race([all, failed]);
    },
  };
}
