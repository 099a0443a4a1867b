/** Counts settled jobs until as many as were asked for have come, or until something fails. */
export function countdown() {
  let [seen, wanted, failure] = [0, Number.POSITIVE_INFINITY, undefined];
  let [resolve, reject] = [() => {}, () => {}];
  return {
    count: () => {
      seen += 1;
      if (seen === wanted) resolve();
    },
    fail: (error) => {
      failure ??= error;
      reject(failure);
    },
    reached: (count) =>
      new Promise((onReached, onFailed) => {
        [wanted, resolve, reject] = [count, onReached, onFailed];
        if (failure) onFailed(failure);
        else if (seen >= count) onReached();
      }),
  };
}
